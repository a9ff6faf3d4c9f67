"""Garbage collections in processes that run for long."""

import subprocess
import sys

SCRIPT = """
import gc
from common.garbage import spare_what_is_loaded

loaded = [[] for _ in range(1_000_000)]
spare_what_is_loaded()
before = gc.get_stats()[2]["collections"]
assert len(gc.get_objects()) < 100_000, "what is loaded would be gone through"
kept = [[] for _ in range(150_000)]
print(gc.get_stats()[2]["collections"] - before)
"""


def test_what_comes_after_the_start_is_collected_however_much_was_loaded() -> None:
    """Python would wait until the new objects are a quarter of those that the last full collection saw."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 4
