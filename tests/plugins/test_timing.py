"""Only a wait in vain is a reason to run a test again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRIES = """
import pytest
from playwright.sync_api import expect, sync_playwright
from tests.browser.chromium import launch
from tests.receivers import Receiver
from tests.waiting import wait_until

tries = {}

def is_first(name):
    tries[name] = tries.get(name, 0) + 1
    return tries[name] == 1

@pytest.mark.fault(0)
def test_wait():
    wait_until(lambda: not is_first("wait"), timeout=0)

@pytest.mark.timed
def test_receiver():
    with Receiver() as receiver:
        receiver.wait_for(int(is_first("receiver")), timeout=0)

@pytest.fixture
def words():
    with sync_playwright() as playwright, launch(playwright) as chromium:
        page = chromium.new_page()
        page.set_content("<p>Hello</p>")
        yield page.locator("p")

@pytest.mark.browser
def test_action(words):
    words.click(timeout=1 if is_first("action") else None)

@pytest.mark.browser
def test_expectation(words):
    expect(words).to_have_text("Goodbye" if is_first("expectation") else "Hello", timeout=100)

@pytest.mark.browser
def test_words(words):
    assert words.inner_text() == ("Goodbye" if is_first("words") else "Hello")

@pytest.mark.fault(0)
def test_lost():
    assert not is_first("lost")

@pytest.mark.timed
def test_slow_answer():
    if is_first("slow"):
        raise OSError("timed out")

def test_of_one_try():
    wait_until(lambda: not is_first("one"), timeout=0)
"""


@pytest.mark.slow
@pytest.mark.browser
def test_only_a_test_that_waited_in_vain_runs_again_and_is_counted(tmp_path: Path) -> None:
    (tmp_path / "test_tries.py").write_text(TRIES)
    options = ["-q", "-n", "1", "-c", "pyproject.toml", "-p", "no:cacheprovider", "-m", ""]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, tmp_path],
        cwd=ROOT,
        env=os.environ | {"REQUIRE_SERVICES": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert "4 failed, 4 passed, 4 rerun" in said, said
    assert "Waited in vain, and ran again: 4 (" in said
    for name in ("lost", "slow_answer", "words", "of_one_try"):
        assert f"::test_{name} - " in said, said
