"""Every page of the table of `tools.screenshots` in light, in dark, on a phone and at 320 pixels."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PARTS = 2  # one for each process of a test run
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.flaky(reruns=0)  # what it finds, it finds again
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_pages_have_no_findings_in_any_look(part: int, tmp_path: Path) -> None:
    """None of axe, no error in the console, no request to another host, no page wider than its window."""
    run = subprocess.run(
        [sys.executable, "-m", "tools.screenshots", "--no-pictures", "--part", f"{part}/{PARTS}"],
        cwd=ROOT, env=os.environ | {"VAR_DIR": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr[-5_000:]
