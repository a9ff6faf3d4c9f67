"""`manage.py migrate`, as two machines start it at the same moment."""

import os
import subprocess
import sys

import pytest

from tools.record_release import ROOT, scratch_database


@pytest.mark.slow  # two whole migrations' worth of processes
@pytest.mark.postgres
@pytest.mark.timed
def test_second_migrate_waits_for_the_first_and_finds_nothing_to_do() -> None:
    command = [sys.executable, "manage.py", "migrate"]
    with scratch_database() as url:
        both = [
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=os.environ | {"DATABASE_URL": url},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for _ in range(2)
        ]
        outputs = [process.communicate(timeout=200)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    first, second = sorted(outputs, key=lambda text: "Another migrate is running" in text)
    assert "Another migrate" not in first
    assert "Applying stores.0001_initial... OK" in first
    assert "No migrations to apply." in second
