"""What the command line meets in shells: tokens of files, `.env` of editors, terminals without letters, pipes that close, proxies."""

import ast
import json
import os
import re
import subprocess
import sys
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from extension_platform_sdk.cli import config, login, logs
from extension_platform_sdk.cli.config import Account, keep
from extension_platform_sdk.cli.forwarding import Target
from extension_platform_sdk.cli.session import Session

from accounts.models import Business, DeviceGrant, User
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.receivers import Answer, Receiver
from tests.sdk.cli.runs import Run
from tests.sdk.node_tools import node_version
from tests.waiting import wait_until
from tests.webhooks.helpers import drain, publish
from tools.sdk_types import SDK
from webhooks.models import Delivery
from webhooks.services.app_defined import follow_app

pytestmark = pytest.mark.timed

SOURCE = SDK / "python" / "extension_platform_sdk"
TEMPLATES = SOURCE / "cli" / "templates"

# The output is buffered, as in a person's shell.
SHELL = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": ""}


def process(*args: str, **environment: str) -> subprocess.Popen[bytes]:
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "extension_platform_sdk.cli", *args],
        env=os.environ | SHELL | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


# Tokens


@pytest.mark.parametrize("around", ["{}\n", "\ufeff{}\r\n", " {} "])
def test_token_of_a_file_is_the_token(
    run: Run, signed_in: str, around: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(config.TOKEN, around.format(config.account().token))
    assert run("apps").status == 0


def test_text_that_is_no_token_is_refused_and_never_shown(
    run: Run, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(config.URL, platform)
    for text in ("“fbdt_secret”", "fbdt_secret\nA=1", "fbdt_\ufeffsecret"):
        monkeypatch.setenv(config.TOKEN, text)
        refused = run("apps")
        assert (refused.status, f"{config.TOKEN} has a" in refused.err) == (1, True)
        assert "secret" not in refused.out + refused.err


# Files that keep a secret


@pytest.mark.parametrize("made", ["folder", "latin-1"])
def test_install_asks_for_no_token_that_it_cannot_keep(
    run: Run, signed_in: str, installation: Installation, app: App, made: str
) -> None:
    file, before = Path(".env"), Installation.objects.get()
    if made == "folder":  # python -m venv .env
        file.mkdir()
    else:
        file.write_bytes("NAME=Café\n".encode("latin-1"))
    refused = run("install", "--app", app.slug)
    assert refused.status == 1
    assert ".env" in refused.err
    assert Installation.objects.get().token_digest == before.token_digest
    assert [each.name for each in Path.cwd().iterdir()] == [".env"]


def test_install_keeps_what_people_wrote_into_the_file(
    run: Run, signed_in: str, installation: Installation, app: App
) -> None:
    Path(".env").write_text(
        "\ufeffACCESS_TOKEN=old\nexport REDIRECT_URL='http://localhost:4000/callback'\nNAME=Café\n",
        encoding="utf-8",
    )
    assert run("install", "--app", app.slug).status == 0
    text = Path(".env").read_text(encoding="utf-8")
    assert (text.count("ACCESS_TOKEN="), "old" in text, text.count("REDIRECT_URL=")) == (1, False, 1)
    assert "NAME=Café\n" in text


def test_login_begins_nothing_that_it_cannot_keep(
    run: Run, platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    refused = run("login", platform)
    assert (refused.status, str(tmp_path / "file") in refused.err) == (1, True)
    assert not DeviceGrant.objects.exists()


ENV = """\
export CLIENT_ID="id"
CLIENT_SECRET = 'it is # quoted'
REDIRECT_URL=http://localhost:4000/callback # a comment
WEBHOOK_SECRET=`back "and" forth`
WEBHOOK_SECRET="the \\n last"
# BUSINESS_ID=commented
BUSINESS_ID=Café
"""


@pytest.mark.long
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_templates_read_the_file_alike(tmp_path: Path, mark: str) -> None:
    names = ["CLIENT_ID", "CLIENT_SECRET", "REDIRECT_URL", "WEBHOOK_SECRET", "BUSINESS_ID"]
    right = ["id", "it is # quoted", "http://localhost:4000/callback", "the \n last", "Café"]
    (tmp_path / ".env").write_text(mark + ENV, encoding="utf-8")
    for file in ("python/config.py", "node/env.js", "node/package.json"):
        (tmp_path / Path(file).name).write_text((TEMPLATES / file).read_text())
    environment = {"PATH": os.environ["PATH"], "PYTHONWARNDEFAULTENCODING": "1"}
    shown = f"import config, json; print(json.dumps([getattr(config, name) for name in {names}]))"
    commands = [[sys.executable, "-c", shown]]
    if node_version() >= 20:
        shown = f"import './env.js'; console.log(JSON.stringify({names}.map((name) => process.env[name])))"
        commands.append(["node", "--input-type=module", "--eval", shown])
    for command in commands:
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.stderr == ""
        assert json.loads(done.stdout) == right


def test_project_file_may_have_a_byte_order_mark(run: Run, signed_in: str, app: App, dana: User) -> None:
    factories.app(dana, slug="other")
    Path("extension-platform.json").write_text(json.dumps({"app": str(app.pk)}), encoding="utf-8-sig")
    assert f"({app.slug})" in run("status").out


# Terminals and pipes


@pytest.mark.long
@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_letters_that_a_terminal_lacks_are_written_as_numbers(
    signed_in: str, dana: User, encoding: str
) -> None:
    factories.app(dana, slug="sushi", name="Café ☕ 寿司")
    shown, errors = process("apps", PYTHONIOENCODING=encoding).communicate(timeout=30)
    assert errors == b""
    assert b"\\u2615 \\u5bff\\u53f8" in shown


@pytest.mark.long
def test_pipe_that_closes_is_no_error() -> None:
    for args in (["schema"], ["--help"], ["schema", "submit", "--json"]):
        reader = process(*args)
        assert reader.stdout
        assert reader.stderr
        reader.stdout.close()  # as `head` does, once it has seen enough
        assert (reader.wait(30), reader.stderr.read()) == (0, b"")


@pytest.mark.long
def test_disk_that_is_full_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "extension_platform_sdk.cli", "schema"]
        done = subprocess.run(command, env=os.environ | SHELL, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"error: .*No space left on device.*\n", done.stderr)


# Browsers and proxies


def test_console_browser_neither_waits_nor_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    # The page comes last: who sees it knows that all else was written.
    browser.write_text(f'#!/bin/sh\necho junk; echo junk >&2; echo "$1" > {opened}; sleep 30\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    child = login.open_browser("https://platform.example/device")
    assert child is not None
    wait_until(lambda: opened.exists() and opened.read_text() == "https://platform.example/device\n", 20)
    assert child.poll() is None
    child.kill()
    child.wait()
    assert capfd.readouterr() == ("", "")


def test_no_browser_is_opened_without_a_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BROWSER", *login.DESKTOPS):
        monkeypatch.delenv(name, raising=False)
    assert login.open_browser("https://platform.example/device") is None
    monkeypatch.setenv("BROWSER", "true")
    assert login.open_browser("file:///etc/passwd") is None


def test_new_asks_no_proxy_for_this_machine(run: Run, platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(config.URL, platform)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert run("new", "ring", "--template", "node", "--local").status == 0


def test_all_requests_are_sent_by_one_kind_of_session() -> None:
    """Only that one knows which machines no proxy reaches."""
    sends = {"delete", "get", "patch", "post", "put", "request", "session", "Session"}
    files = [file for file in SOURCE.rglob("*.py") if file != SOURCE / "transport.py"]
    assert [
        f"{file.name}:{node.lineno}"
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in sends and ast.unparse(node.value) == "requests"
    ] == []


# Names


@pytest.mark.long
def test_name_without_latin_letters_takes_a_slug(run: Run, signed_in: str, settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    refused = run("new", "寿司", "--template", "node")
    assert (refused.status, "--slug" in refused.err) == (2, True)
    assert run("new", "寿司", "--template", "node", "--slug", "Sushi Bar").status == 2
    assert run("new", "寿司", "--template", "node", "--slug", "sushi").status == 0
    app = App.objects.get()
    assert (app.name, app.slug, Path("sushi", "package.json").exists()) == ("寿司", "sushi", True)


# Deployments


def test_logs_go_on_through_a_deployment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def page(*names: str) -> Answer:
        entries = [
            {
                "id": name, "at": datetime.now().astimezone().isoformat(), "kind": "api", "name": name,
                "status": "200", "reason": None, "durationMs": 1,
            }
            for name in names
        ]  # fmt: skip
        return Answer(body=json.dumps({"data": entries, "next": None}).encode())

    app = json.dumps({"data": [{"id": "1", "slug": "ring", "name": "Ring"}], "total": 1}).encode()
    away = [Answer(status=status, body=b"<html>Bad gateway</html>") for status in (502, 503, 504, 502)]
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) > len(away) + 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(logs.time, "sleep", sleep)
    with Receiver() as platform:
        keep(Account(platform.url.rstrip("/"), "fbdt_x"))
        platform.respond_with(Answer(body=app), page("before"), *away, page("after", "before"))
        outcome = run("logs", "-f", "--json")
    assert outcome.status == 130
    assert [json.loads(line)["name"] for line in outcome.out.splitlines()] == ["before", "after"]
    assert outcome.err.count("Lost the connection") == 1


def test_login_goes_on_through_a_deployment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login.time, "sleep", lambda seconds: None)
    codes = {
        "device_code": "d",
        "user_code": "A",
        "verification_uri_complete": "x",
        "interval": 1,
        "expires_in": 60,
    }
    token = {"access_token": "fbdt_new", "expires_in": 60}
    with Receiver() as platform:
        away = [Answer(status=status, body=b"<html>Bad gateway</html>") for status in (502, 503, 504)]
        platform.respond_with(
            Answer(body=json.dumps(codes).encode()), *away, Answer(body=json.dumps(token).encode())
        )
        assert run("login", platform.url).status == 0
    assert config.account().token == "fbdt_new"


# Listening


class BrokenScreen:
    """Of a terminal that went away."""

    def say(self, text: str, *, wait: float = 0.0) -> None:
        pass

    def began(self, listener: Any) -> None:
        self.listening = True

    def handled(self, kind: str, name: str, request: Any, answer: Any) -> None:
        raise OSError("The terminal went away.")

    def reported(self, answers: Any) -> None:
        pass


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_answer_that_cannot_be_shown_is_reported_and_ends_the_session(
    signed_in: str, app: App, sandbox: Business, installation: Installation
) -> None:
    App.objects.update(webhook_url="https://93.184.216.34/hooks")
    follow_app(installations=[Installation.objects.with_app().get()])
    screen, raised = BrokenScreen(), []

    def listen() -> None:
        try:
            session.run()
        except OSError as error:
            raised.append(str(error))

    with Receiver() as server:
        record = {"id": str(app.pk), "slug": app.slug}
        session = Session(config.account(), record, Target(server.url), screen)
        thread = threading.Thread(target=listen)
        thread.start()
        wait_until(lambda: getattr(screen, "listening", False), 30)
        publish(sandbox)
        drain()
        wait_until(lambda: Delivery.objects.filter(status="SUCCEEDED").exists(), 30)
        thread.join(40)
        session.stop()
    assert raised == ["The terminal went away."]
