"""The sample app as a process: how it starts, waits for the platform, and ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.waiting import wait_until

from .driver import ROOT, SampleAppProcess
from .fake_platform import FakePlatform

pytestmark = pytest.mark.long


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_cleanly(start_process: Callable[..., SampleAppProcess], number: int) -> None:
    assert start_process().end(number) == 0


def test_end_of_stdin_ends_it_when_asked(start_process: Callable[..., SampleAppProcess]) -> None:
    app = start_process("--exit-with-stdin")
    assert app.process.stdin
    app.process.stdin.close()
    assert app.process.wait(5) == 0
    app.process.stdin = None


def test_end_of_stdin_is_ignored_otherwise(start_process: Callable[..., SampleAppProcess]) -> None:
    app = start_process()
    assert app.process.stdin
    app.process.stdin.close()
    app.process.stdin = None
    with pytest.raises(subprocess.TimeoutExpired):
        app.process.wait(0.5)
    assert "Order Bell" in app.page()


def test_app_may_start_before_the_platform(start_process: Callable[..., SampleAppProcess]) -> None:
    with socket.socket() as reserved:  # bound and not listening: refused, and not used by others meanwhile
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        app = start_process("--platform", f"http://127.0.0.1:{port}", token="fbat_early")
        wait_until(lambda: "does not answer" in app.page())

    late = FakePlatform(port)
    try:
        late.installations["fbat_early"] = late.installations.pop(late.install("Late Shop"))
        app.wait_until_connected()
        assert (
            late.deliver(late.webhook_of("fbat_early"), "order.created", {"orderNumber": "1"}).status_code
            == 200
        )
    finally:
        late.close()


def test_token_that_is_refused_at_the_start_is_explained(
    start_process: Callable[..., SampleAppProcess], platform: FakePlatform
) -> None:
    app = start_process(token="fbat_wrong")
    wait_until(lambda: "The platform says: The access token is not valid." in app.page())
    assert platform.calls == ["GET /app-api/installation"]


def test_token_that_is_connected_is_left_alone(
    start_process: Callable[..., SampleAppProcess], platform: FakePlatform
) -> None:
    token = platform.install()
    app = start_process(token=token)
    app.wait_until_connected()
    assert "GET /app-api/installation" in platform.calls
    port = app.url.rpartition(":")[2]
    app.end()
    platform.calls.clear()
    start_process("--port", port, token=token).wait_until_connected()
    assert platform.calls == []


def test_taken_port_and_foreign_state_file_are_named(
    start_process: Callable[..., SampleAppProcess], tmp_path: Path
) -> None:
    port = start_process().url.rpartition(":")[2]
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"something": "else"}')
    for arguments in (["--port", port], ["--port", "0", "--state-file", str(foreign)]):
        ended = subprocess.run(
            [sys.executable, "-m", "examples.sample_app", *arguments],
            cwd=tmp_path,
            env={"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "sdk/python")))},
            capture_output=True,
            text=True,
            timeout=10,
        )
        assert ended.returncode == 1
        assert ended.stderr.startswith("Order Bell can't start: ")
        assert "Traceback" not in ended.stderr
    assert foreign.read_text() == '{"something": "else"}'
