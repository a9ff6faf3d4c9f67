"""`REQUIRE_SERVICES=1`: where it is set, nothing that is missing goes unnoticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPING = """
import pytest

def test_in_its_body():
    pytest.skip("needs a unicorn")

@pytest.fixture
def dragon():
    pytest.skip("needs a dragon")

def test_by_its_fixture(dragon):
    pass

@pytest.mark.skipif(True, reason="needs a griffin")
def test_by_its_mark():
    pass

@pytest.mark.postgres
def test_by_its_service():
    pass

@pytest.mark.xfail(strict=True)
def test_that_has_to_fail():
    assert False
"""
NEEDED = ("a unicorn", "a dragon", "a griffin", "postgres, which is not here")


@pytest.mark.long
@pytest.mark.parametrize(("required", "status"), [("0", 0), ("1", 1)])
def test_test_that_skips_itself_fails_where_services_are_required(
    required: str, status: int, tmp_path: Path
) -> None:
    (tmp_path / "test_skipping.py").write_text(SKIPPING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "pyproject.toml", "-p", "no:cacheprovider", tmp_path],
        cwd=ROOT,
        env=os.environ | {"REQUIRE_SERVICES": required, "EMBEDDED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert ("4 skipped, 1 xfailed" in done.stdout) is (status == 0)
    for thing in NEEDED:
        assert (f"REQUIRE_SERVICES=1, but: Skipped: needs {thing}" in done.stdout) is bool(status), (
            done.stdout
        )
