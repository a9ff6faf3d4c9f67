"""`--json` of every command, held to the schema that `extension-platform schema` prints."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from extension_platform_sdk.cli.config import Account, keep
from extension_platform_sdk.cli.main import COMMANDS
from extension_platform_sdk.cli.schema import schema_of, schemas

from accounts.models import User
from accounts.services.developer_tokens import create_developer_token
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.sdk.cli.json_output import validated
from tests.sdk.cli.runs import Run
from tests.webhooks.helpers import drain, webhook
from webhooks.models import Delivery

pytestmark = pytest.mark.timed

# Proved beside what else they do.
ELSEWHERE = {
    "listen": "tests/sdk/cli/test_listen.py",
    "app": "tests/sdk/cli/test_app_file.py",
    "login": "tests/sdk/cli/test_login.py",
    "check": "tests/conformance/test_command.py",
}
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def _on_this_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.mark.long
def test_every_command_has_a_schema_and_the_option(run: Run) -> None:
    names = {command.NAME for command in COMMANDS}
    assert names | {"error"} == set(schemas()["properties"])
    for name in names:
        assert "--json" in run(name, "--help").out
        assert json.loads(run("schema", name).out) == schema_of(name)
    assert json.loads(run("schema").out) == schemas()
    assert validated("schema", run("schema", "submit", "--json").out) == schema_of("submit")
    assert run("schema", "nonsense").status == 2
    for name, file in ELSEWHERE.items():
        assert f'validated("{name}"' in (ROOT / file).read_text(), name


@pytest.mark.long
def test_new_app_from_its_folder_to_its_submission(run: Run, signed_in: str) -> None:
    made = validated("new", run("new", "Ring my bell", "--template", "flask", "--json").out)
    assert (made["folder"], made["app"]["slug"], made["problems"]) == ("ring-my-bell", "ring-my-bell", [])
    assert made["commands"][0] == "cd ring-my-bell"
    local = validated("new", run("new", "Local", "--template", "node", "--local", "--json").out)
    assert local["app"] is None
    os.chdir("ring-my-bell")
    installed = validated("install", run("install", "--json").out)
    assert installed["businessId"] == str(Installation.objects.get().business_id)
    for action in ("check", "diff", "push"):
        checked = validated("manifest", run("manifest", action, "--json").out)
        assert (checked["problemCount"], checked["saved"]) == (0, action == "push")
    pulled = validated("manifest", run("manifest", "pull", "--json").out)
    assert pulled["manifest"] == json.loads(Path("manifest.json").read_text())
    steps = validated("trigger", run("trigger", "order.created", "--json").out)["steps"]
    assert "order.created" in [event["event"] for step in steps for event in step["events"]]
    assert validated("trigger", run("trigger", "--list", "--json").out)["scenarios"]


def test_filter_of_the_app(run: Run, signed_in: str, app: App, tmp_path: Path) -> None:
    assert validated("filter", run("filter", "--json").out) == {"webhookFilter": None}
    file = tmp_path / "filter.json"
    file.write_text('{"changed": ["price"]}')
    kept = validated("filter", run("filter", "--set", str(file), "--json").out)
    assert kept == {"webhookFilter": {"changed": ["price"]}}


@pytest.mark.long
def test_what_happened(run: Run, signed_in: str, installation: Installation) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    assert run("trigger", "order.created").status == 0
    drain()
    (line,) = run("logs", "--json").out.splitlines()
    assert validated("logs", line)["status"] == "RETRYING"
    delivery = Delivery.objects.get()
    again = validated("resend", run("resend", str(delivery.pk), "--json").out)
    assert (again["id"], again["event"]) == (str(delivery.pk), "order.created")
    assert drain() == 1
    unknown = run("resend", "nonsense", "--json")
    record = validated("error", unknown.out)
    assert (unknown.status, record["statusCode"], record["code"]) == (1, 404, "not_found")


@pytest.mark.long
def test_existing_project_is_linked_and_the_machine_signed_out(
    run: Run, signed_in: str, app: App, dana: User
) -> None:
    factories.app(dana, slug="other")
    assert {each["slug"] for each in validated("apps", run("apps", "--json").out)} == {app.slug, "other"}
    Path(".env").write_text("CLIENT_SECRET=fbcs_x\n")
    assert run("install").status == 1, "Which of the two?"
    assert run("install", "--app", app.slug).status == 0
    kept = dict(line.split("=", 1) for line in Path(".env").read_text().splitlines())
    assert (kept["CLIENT_SECRET"], kept["REDIRECT_URL"]) == ("fbcs_x", app.redirect_url)
    assert validated("status", run("status", "--json").out)["app"]["slug"] == app.slug
    Path(".env").write_text("REDIRECT_URL=http://localhost:4000/callback\n")
    assert run("install").status == 0
    assert "REDIRECT_URL=http://localhost:4000/callback" in Path(".env").read_text()
    assert validated("logout", run("logout", "--json").out)["url"] == signed_in
    assert run("logout").status == run("apps").status == 1


@pytest.mark.long
def test_release(run: Run, signed_in: str, dana: User) -> None:
    song = factories.app(dana, slug="song")
    first = factories.approve(song)
    App.objects.filter(pk=song.pk).update(version="1.1.0")
    song.refresh_from_db()
    factories.approve(song)
    assert len(validated("versions", run("versions", "--json").out)) == 2
    assert validated("status", run("status", "--json").out)["liveVersion"]["version"] == "1.1.0"
    assert validated("release", run("release", "--json").out)["state"] == "COMPLETE"
    restored = validated("restore", run("restore", str(first.number), "--json").out)
    assert restored["version"] == first.version
    factories.app(dana, slug="ring")
    submitted = validated("submit", run("submit", "--app", "ring", "--json").out)
    assert submitted["status"] == "PENDING_REVIEW"
    state = validated("status", run("status", "--app", "ring", "--json").out)
    assert state["submission"]["id"] == submitted["id"]


@pytest.mark.long
def test_members(run: Run, platform: str, dana: User, sam: User, app: App) -> None:
    rights = {"rights": ["members"]}
    issued = create_developer_token(user=dana, name="Owner", lifetime=timedelta(days=1), **rights)
    keep(Account(platform, issued.text))
    factories.member(app, sam)
    invite = ("members", "--invite", "kim@example.com", "--role", "viewer", "--json")
    assert validated("members", run(*invite).out)["state"] == "INVITED"
    change = ("members", "--change", "sam@example.com", "--role", "viewer", "--json")
    assert validated("members", run(*change).out)["role"] == "VIEWER"
    removed = validated("members", run("members", "--remove", "sam@example.com", "--json").out)
    assert removed == {"removed": "sam@example.com"}
    assert len(validated("members", run("members", "--json").out)) == 2


def test_failures(run: Run, signed_in: str, dana: User) -> None:
    factories.app(dana, slug="ring", redirect_url="")
    refused = run("submit", "--json")
    record = validated("error", refused.out)
    assert (refused.status, record["statusCode"]) == (1, 400)
    assert "redirectUrl" in [each["field"] for each in record["details"]]
    unknown = run("status", "--app", "nonsense", "--json")
    assert (unknown.status, validated("error", unknown.out)["statusCode"]) == (1, None)
    keep(Account("http://127.0.0.1:9", "fbdt_x"))
    away = run("status", "--json")
    assert (away.status, validated("error", away.out)["error"]) == (1, "Unreachable")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("logs",), 1, "You have no app nonsense."),
        (("listen", "--forward-to", "3000"), 1, "You have no app nonsense."),
        (("logs", "--kind", "sms"), 2, "argument --kind: invalid choice: 'sms'"),
        (("listen",), 2, "the following arguments are required: --forward-to"),
        (("trigger", "order.create"), 2, "There is no event order.create. Choose one of: "),
        (("nonsense",), 2, "invalid choice: 'nonsense'"),
        (("manifest", "pull", "--file", "missing/manifest.json"), 1, "missing/manifest.json: No such file"),
    ],
)
def test_every_error_is_one_line_of_json(
    run: Run, signed_in: str, app: App, words: tuple[str, ...], status: int, message: str
) -> None:
    """Also of commands that print lines, of wrong arguments, and of files."""
    command = words[0]
    named = ["--app", "nonsense"] if command in ("logs", "listen") and status == 1 else []
    failed = run(*words, *named, "--json")
    (line,) = failed.out.splitlines()
    record = validated("error", line)
    assert (failed.status, record["type"], message in record["message"]) == (status, "error", True), record
    if command in ("logs", "listen"):
        assert validated(command, line) == record


@pytest.mark.long
def test_submit_names_line_and_path_of_the_manifests_problems(run: Run, signed_in: str, dana: User) -> None:
    """The file beside the code is what its author means; nothing else is submitted unasked."""
    app = factories.app(dana, slug="ring")
    file = Path("manifest.json")
    file.write_text('{\n  "blocks": [\n    {"blockType": "stars"}\n  ]\n}')
    refused = run("submit")
    assert refused.status == 1
    assert "manifest.json:3:5: blocks[0].name: " in refused.out
    (problem, *_) = validated("submit", run("submit", "--json").out)["problems"]
    assert (problem["line"], problem["path"].startswith("blocks[0]")) == (3, True)
    block = {"blockType": "stars", "name": "Stars", "renderUrl": "https://stars.example.com/block"}
    file.write_text(json.dumps({"blocks": [block]}))
    differs = run("submit")
    assert (differs.status, "differs from the saved manifest" in differs.err) == (1, True)
    app.refresh_from_db()
    assert app.status == "DRAFT"
    assert run("submit", "--saved").status == 0
