"""How many processor cores this process may use."""

import math
import os
from pathlib import Path

CONTROL_GROUP = Path("/sys/fs/cgroup/cpu.max")


def cores(limits: Path = CONTROL_GROUP) -> int:
    """Those of the machine, or fewer where the process or its container is limited. At least 1."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = limits.read_text().split()
        return max(1, min(own, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no control groups, or "max": no limit
        return own
