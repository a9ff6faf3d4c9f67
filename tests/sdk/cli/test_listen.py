"""`extension-platform listen`, as a developer runs it, against a live server."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from extension_platform_sdk import verify

from accounts.models import Business, User
from accounts.services import developer_tokens
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import api_of
from tests.ports import free_port
from tests.receivers import Receiver
from tests.sdk.cli.json_output import validated
from tests.sdk.cli.runs import Run
from tests.webhooks.helpers import drain, publish, wait_until
from webhooks.services.app_defined import follow_app

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server() -> Iterator[Receiver]:
    """On the developer's machine."""
    with Receiver() as running:
        yield running


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Any]:
    """Starts a command in a process of its own; its output comes with `text()`."""
    started: list[subprocess.Popen[bytes]] = []

    class Command:
        def __init__(self, *args: str) -> None:
            self._log = tmp_path / f"{args[0]}.log"
            with self._log.open("wb") as target:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "extension_platform_sdk.cli", *args],
                    env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
                    stdout=target,
                    stderr=subprocess.STDOUT,
                )
            started.append(self.process)

        def text(self) -> str:
            return self._log.read_text()

    yield Command
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.timed
def test_two_commands_lead_to_a_verified_webhook(
    platform: str, dana: User, sandbox: Business, server: Receiver, command: Any
) -> None:
    """From nothing but an app with a Webhook URL, which no server has, within a minute."""
    app = factories.app(dana, webhook_url="https://93.184.216.34/hooks")
    began = time.monotonic()
    login = command("login", platform, "--no-browser")
    wait_until(lambda: re.search(r"[A-Z]{4}-[A-Z]{4}", login.text()), 30)
    developer_tokens.answer_grant(
        user=dana, user_code=re.findall(r"[A-Z]{4}-[A-Z]{4}", login.text())[0], agreed=True
    )
    assert login.process.wait(30) == 0, login.text()

    listen = command("listen", "--forward-to", server.url, "--print")
    wait_until(lambda: "Listening for" in listen.text(), 30)
    publish(sandbox)
    drain()
    (request,) = server.wait_for(1, 10)
    secret = re.findall(r"Webhook secret: (\S+)", listen.text())[0]
    standard = re.findall(r"For Standard Webhooks libraries: (\S+)", listen.text())[0]
    standardwebhooks.Webhook(standard).verify(request.body, dict(request.headers))
    verify(
        secret=secret,
        timestamp=request.headers["x-webhook-timestamp"],
        body=request.body,
        signature=request.headers["x-webhook-signature"],
    )
    assert time.monotonic() - began < 60
    assert request.target == "/hooks"
    assert f"{app.name} was not on your sandbox store, and is now installed there." in listen.text()
    wait_until(lambda: "order.created" in listen.text())
    wait_until(lambda: request.body.decode() in listen.text())


@pytest.mark.long
def test_second_command_line_ends_the_first_with_a_reason(
    signed_in: str, installation: Any, app: App, server: Receiver, command: Any
) -> None:
    first = command("listen", "--forward-to", server.url)
    wait_until(lambda: "Listening for" in first.text(), 30)
    second = command("listen", "--forward-to", server.url)
    assert first.process.wait(30) == 1
    assert "Another command line listens for this app now" in first.text()
    assert second.process.poll() is None


@pytest.mark.long
def test_programs_read_lines_of_json(
    signed_in: str, installation: Installation, app: App, sandbox: Business, server: Receiver, command: Any
) -> None:
    App.objects.update(webhook_url="https://93.184.216.34/hooks")
    follow_app(installations=[Installation.objects.with_app().get()])
    listen = command("listen", "--forward-to", server.url, "--json")
    wait_until(lambda: '"listening"' in listen.text(), 30)
    publish(sandbox)
    drain()
    wait_until(lambda: '"request"' in listen.text(), 30)
    lines = [validated("listen", line) for line in listen.text().splitlines()]
    assert [(each["type"], each.get("name"), each.get("status")) for each in lines] == [
        ("listening", None, None),
        ("request", "order.created", 200),
    ]
    assert lines[1]["installationId"] == str(installation.pk)


def test_nonsense_is_refused_with_a_reason(run: Run) -> None:
    for address in ("ftp://localhost", "http://", "http://localhost:1/?a=1", "http://3000", "70000", ""):
        outcome = run("listen", "--forward-to", address)
        assert (outcome.status, f"{address} is no address" in outcome.err) == (2, True), outcome.err
    outcome = run("listen", "--forward-to", "localhost:3000", "--since", "yesterday")
    assert (outcome.status, "30m, 2h, 1d" in outcome.err) == (2, True)


SERVER = """
import http.server, os, pathlib
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with open("got.log", "a") as log:
            log.write(f"VERSION {self.path} {self.headers['X-Webhook-Event']}\\n")
        self.send_response(200)
        self.end_headers()
pathlib.Path("pid.log").write_text(str(os.getpid()))
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.mark.slow
@pytest.mark.timed
def test_dev_starts_listens_checks_and_starts_again(
    signed_in: str, dana: User, sandbox: Business, command: Any
) -> None:
    """In the project's folder, by one command, until SIGTERM, which leaves no server behind."""
    port, here = free_port(), Path.cwd()
    app = factories.app(
        dana, webhook_url="https://93.184.216.34/hooks", webhook_events=["order.created"],
        redirect_url=f"http://localhost:{port}/callback",
    )  # fmt: skip
    (here / "server.py").write_text(SERVER.replace("VERSION", "first"))
    start = {"app": str(app.pk), "start": f"{sys.executable} server.py", "port": port}
    (here / "extension-platform.json").write_text(json.dumps(start))
    dev = command("dev", "--no-open")

    def got() -> str:
        log = here / "got.log"
        return log.read_text() if log.exists() else ""

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(lambda: "Listening for" in dev.text() and answers(), 30)
    assert f"/portal/apps/{app.slug}/test/" in dev.text()
    api_of(dana)("post", f"/developer/apps/{app.pk}/test-changes", {"event": "order.created"})
    drain()
    wait_until(lambda: "first /hooks order.created" in got(), 30)
    first = (here / "pid.log").read_text()
    (here / "server.py").write_text(SERVER.replace("VERSION", "second"))
    wait_until(lambda: (here / "pid.log").read_text() not in ("", first) and answers(), 30)
    api_of(dana)("post", f"/developer/apps/{app.pk}/test-changes", {"event": "order.created"})
    drain()
    wait_until(lambda: "second /hooks order.created" in got(), 30)
    wait_until(lambda: "Checked on a throwaway store:\n" in dev.text(), 60)
    assert "FAIL  IN001" in dev.text()  # it has no callback
    (here / "manifest.json").write_text('{"blocks": [{"blockType": "stars"}]}')
    wait_until(lambda: "blocks[0].name: " in dev.text(), 30)
    (here / "manifest.json").write_text("{}")
    (here / "app.json").write_text('{"name": "Another"}')
    wait_until(lambda: "Not saved on the platform yet:\n  name" in dev.text(), 30)
    dev.process.send_signal(signal.SIGTERM)
    assert dev.process.wait(30) == 0
    wait_until(lambda: not answers(), 30)


def test_dev_checks_no_app_of_another_address(
    signed_in: str, dana: User, sandbox: Business, command: Any
) -> None:
    """Its install would fail, as the code is for another address."""
    app = factories.app(dana, redirect_url="https://93.184.216.34/callback")
    start = {"app": str(app.pk), "start": "sleep 60", "port": (port := free_port())}
    Path("extension-platform.json").write_text(json.dumps(start))
    dev = command("dev", "--no-open")
    wait_until(lambda: f"The app isn't registered at http://localhost:{port}" in dev.text(), 30)
    dev.process.send_signal(signal.SIGTERM)
    dev.process.wait(30)


def test_dev_asks_how_to_start(run: Run, signed_in: str, app: App) -> None:
    refused = run("dev")
    assert (refused.status, "Say how your server starts" in refused.err) == (1, True)
