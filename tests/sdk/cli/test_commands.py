"""What a developer does with an app on the command line."""

import html
import io
import json
import os
import re
import stat
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import requests
from extension_platform_sdk.cli import logs, new
from extension_platform_sdk.cli.config import Account, keep
from extension_platform_sdk.cli.main import main
from extension_platform_sdk.cli.new import TEMPLATES
from standardwebhooks import Webhook

from accounts.models import User
from accounts.services.developer_tokens import create_developer_token
from activity.log import flush
from extensions.queries import manifest_document
from installations.models import Installation
from marketplace.models import App, Submission
from marketplace.services import reviews
from tests import factories
from tests.pages import signed_in as signed_in_browser
from tests.pages import text_of
from tests.sdk.cli.runs import Run
from tests.webhooks.helpers import drain, webhook
from tools.sdk_types import SDK
from webhooks.messages.message import signature_headers
from webhooks.models import Delivery

pytestmark = pytest.mark.timed


@pytest.fixture(autouse=True)
def _on_this_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.mark.long
def test_new_app_is_registered_and_on_the_sandbox_store(run: Run, signed_in: str, dana: User) -> None:
    outcome = run("new", "Ring my bell", "--template", "flask")
    assert (outcome.status, outcome.err) == (0, "")
    app, installed = App.objects.get(), Installation.objects.get()
    assert (app.name, app.slug, app.developer) == ("Ring my bell", "ring-my-bell", dana)
    assert app.webhook_url == "http://localhost:3000/webhooks"
    assert manifest_document(app)["blocks"][0]["renderUrl"] == "http://localhost:3000/block"
    file = Path("ring-my-bell/.env")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = dict(line.split("=", 1) for line in file.read_text().splitlines())
    assert (kept["CLIENT_ID"], kept["WEBHOOK_SECRET"]) == (app.client_id, installed.webhook_secret)
    # The libraries of Standard Webhooks take one of the two.
    now, headers = datetime.now(UTC), signature_headers(kept["WEBHOOK_SECRET"], "d", int(time.time()), b"{}")
    assert Webhook(kept["WEBHOOK_SECRET_STANDARD"]).sign("d", now, "{}") == headers["webhook-signature"]
    assert kept["BUSINESS_ID"] == str(installed.business_id)
    assert ".env" in Path("ring-my-bell/.gitignore").read_text().splitlines()
    # In this folder, no command needs --app. A second app makes the choice matter.
    factories.app(dana, slug="another")
    os.chdir("ring-my-bell")
    assert run("trigger", "order.created").status == 0
    assert Delivery.objects.filter(app_id=app.pk, event_type="order.created").exists()
    # A new install has another token, and the rest of the file stays.
    assert run("install").status == 0
    again = dict(line.split("=", 1) for line in Path(".env").read_text().splitlines())
    assert again.pop("ACCESS_TOKEN") != kept.pop("ACCESS_TOKEN")
    assert again == kept


@pytest.mark.long
def test_new_app_on_a_platform_elsewhere_waits_for_a_server(
    run: Run, signed_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform can't reach this machine, and must not call itself instead."""
    monkeypatch.setattr("extension_platform_sdk.cli.new.is_local", lambda host: False)
    monkeypatch.setattr("extension_platform_sdk.cli.config.checked_url", lambda url: url)
    assert run("new", "ring", "--template", "node").status == 0
    app = App.objects.get()
    assert app.webhook_url == "https://your-server.example/webhooks"
    assert app.redirect_url == "https://your-server.example/callback"


@pytest.mark.long
def test_new_says_how_to_go_on(run: Run, signed_in: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command that it prints is on the page about the first app, too."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "first-app.md").read_text()
    here = run("new", "ring", "--template", "flask").out
    printed = re.findall(r"^  (.+)", here, re.MULTILINE)
    assert "extension-platform listen --forward-to http://localhost:3000" in printed
    assert [line for line in printed if line not in page] == []
    assert "nothing is" not in here
    monkeypatch.setattr("extension_platform_sdk.cli.new.is_local", lambda host: False)
    assert (
        "registered at https://your-server.example, where nothing is"
        in run("new", "song", "--template", "flask").out
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_new_app_installs_the_sdk_that_the_platform_serves(
    run: Run, platform: str, template: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No package registry has it. Without a platform the author says where it is."""
    language, file = ("node", "package.json") if template in new.FROM_NPM else ("python", "requirements.txt")
    outcome = run("new", "ring", "--template", template, "--local")
    assert (outcome.status, "extension-platform login URL" in outcome.err) == (1, True)
    monkeypatch.setenv("EXTENSION_PLATFORM_URL", platform)
    assert run("new", "ring", "--template", template, "--local").status == 0
    address = re.search(rf"{platform}/sdk/{language}/[^\s\"]+", Path("ring", file).read_text())
    assert address
    name, _, hash_of_it = address[0].partition("#sha256=")
    content = requests.get(name, timeout=10).content
    assert bool(hash_of_it) == (language == "python")
    assert hash_of_it in (sha256(content).hexdigest(), "")
    assert f"`{file}`" in Path("ring/README.md").read_text()
    nonsense = run("new", "song", "--template", template, "--local", "--sdk", str(tmp_path))
    assert f"{tmp_path} has no {language}/" in nonsense.err
    assert not Path("song").exists()
    for name, folder in {"first": SDK, "second": SDK.parent}.items():
        assert run("new", name, "--template", template, "--local", "--sdk", str(folder)).status == 0
        assert f"{SDK / language}" in Path(name, file).read_text()


@pytest.mark.long
@pytest.mark.parametrize("template", TEMPLATES)
def test_app_listens_where_it_is_registered(run: Run, signed_in: str, template: str) -> None:
    """The port of `--server` is in every command, and in the code that chooses one."""
    made = run("new", "ring", "--template", template, "--server", "http://localhost:23100", "--sdk", str(SDK))
    assert made.status == 0
    assert App.objects.get().webhook_url == "http://localhost:23100/webhooks"
    texts = [file.read_text() for file in Path("ring").iterdir()]
    assert "listen --forward-to http://localhost:23100" in made.out
    for text in (made.out, *texts):
        assert "3000" not in text
        assert "LOCAL_PORT" not in text
    assert run("new", "song", "--template", template, "--server", "http://localhost:x").status == 2
    assert (
        run("new", "song", "--template", template, "--local", "--server", "https://song.example").status == 0
    )
    assert any("3000" in file.read_text() for file in Path("song").iterdir())


@pytest.mark.parametrize("template", TEMPLATES)
def test_template_is_whole_without_a_platform(run: Run, template: str) -> None:
    local = ("--template", template, "--local", "--sdk", str(SDK))
    assert run("new", 'Ring "<b>"', *local).status == 0
    texts = {file.name: file.read_text() for file in Path("ring-b").iterdir()}
    manifest = json.loads(texts["manifest.json"])
    assert manifest["blocks"][0]["renderUrl"] == "{server}/block"
    assert json.loads(texts["app.json"])["server"] == "http://localhost:3000"
    assert json.loads(texts["app.json"])["name"] == 'Ring "<b>"'
    for name, text in texts.items():
        if name.endswith(".py"):
            compile(text, name, "exec")
        assert "SERVER" not in text
    assert run("new", "ring b", *local).status == 1


@pytest.mark.long
def test_name_in_use_by_another_developer_gets_a_number(run: Run, signed_in: str, sam: User) -> None:
    factories.app(sam, slug="ring")
    assert run("new", "ring", "--template", "node").status == 0
    assert App.objects.filter(slug="ring-2").exists()


def test_new_registers_nothing_that_has_no_folder(run: Run, signed_in: str) -> None:
    Path("work").mkdir()
    os.chdir("work")
    os.rmdir(Path.cwd())  # so that no folder can be made
    failed = run("new", "ring", "--template", "node")
    assert (failed.status, "ring: " in failed.err) == (1, True)
    assert not App.objects.exists()


def test_new_leaves_no_folder_of_an_app_that_was_refused(run: Run, platform: str) -> None:
    keep(Account(platform, "fbdt_of_nobody"))
    assert run("new", "ring", "--template", "node").status == 1
    assert not Path("ring").exists()


@pytest.mark.long
@pytest.mark.spec(
    "Contract 19 Filters",
    "The command line shows, sets and removes the app's filter, and names what it stopped",
)
def test_filter_is_set_shown_and_removed(
    run: Run,
    signed_in: str,
    installation: Installation,
    app: App,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    webhook(installation, "http://127.0.0.1:9/", [], is_app_defined=True)
    assert run("filter").out == "Every event is delivered.\n"
    file = tmp_path / "filter.json"
    file.write_text('{"all": [{"field": "amount", "op": "gte", "value": 1000000}]}')
    shown = run("filter", "--set", str(file))
    assert (shown.status, json.loads(shown.out)) == (0, json.loads(file.read_text()))
    assert json.loads(run("filter").out) == json.loads(file.read_text())
    assert "its filter asks for amount gte 1000000" in run("trigger", "order.created").out
    monkeypatch.setattr("sys.stdin", io.StringIO('{"all": [{"field": "amounts", "op": "exists"}]}'))
    wrong = run("filter", "--set", "-")
    assert (wrong.status, "webhookFilter.all[0].field: amounts is no field" in wrong.err) == (1, True)
    file.write_text("{")
    assert "can't be read as JSON" in run("filter", "--set", str(file)).err
    assert "There is no" in run("filter", "--set", str(tmp_path / "absent.json")).err
    assert run("filter", "--remove").status == 0
    app.refresh_from_db()
    assert app.webhook_filter is None


@pytest.mark.long
def test_trigger_lists_and_explains(run: Run, signed_in: str, installation: Installation) -> None:
    listed = run("trigger", "--list").out
    assert "payment.expired" in listed
    assert "business.data_erasure" in listed
    assert "day" in listed
    unknown = run("trigger", "order.create")
    assert (unknown.status, "order.created" in unknown.err) == (2, True)
    assert "none of the app's webhooks listens" in run("trigger", "product.created").out
    assert run("trigger", "business.data_erasure").status == 0
    assert not Installation.objects.active().exists()
    assert "not installed on your sandbox" in run("trigger", "order.created").err


@pytest.mark.long
def test_manifest_goes_back_and_forth(run: Run, signed_in: str, app: App) -> None:
    file = Path("manifest.json")
    file.write_text('{\n  "blocks": [\n    {"blockType": "stars"}\n  ]\n}')
    checked = run("manifest", "check")
    assert checked.status == 1
    assert "manifest.json:3:5: blocks[0].name: " in checked.out
    block = {"blockType": "stars", "name": "Stars", "renderUrl": "https://stars.example.com/block"}
    file.write_text(json.dumps({"blocks": [block]}))
    assert "Added: Block stars." in run("manifest", "diff").out
    assert manifest_document(app) == {}
    assert run("manifest", "push").status == 0
    assert manifest_document(app) == {"blocks": [block]}
    assert "No changes" in run("manifest", "diff").out
    block["name"] = "Star rating"
    file.write_text(json.dumps({"blocks": [block]}))
    assert "+ Star rating" in run("manifest", "diff").out
    assert run("manifest", "pull").status == 1
    assert run("manifest", "pull", "--force").status == 0
    assert json.loads(file.read_text())["blocks"][0]["name"] == "Stars"


@pytest.mark.long
def test_push_says_that_stores_keep_what_was_removed(run: Run, signed_in: str, app: App) -> None:
    file = Path("manifest.json")
    block = {"blockType": "stars", "name": "Stars", "renderUrl": "https://stars.example.com/block"}
    file.write_text(json.dumps({"blocks": [block]}))
    run("manifest", "push")
    reviews.approve(submission=factories.submit(app), reviewer=factories.reviewer())
    App.objects.update(live_saves=False)
    file.write_text("{}")
    pushed = run("manifest", "push").out
    assert "Other stores run it until the next version." in pushed
    assert "Saves aren't live for this app" in pushed
    assert "Saves aren't live" not in run("manifest", "push").out
    App.objects.update(live_saves=True)
    file.write_text(json.dumps({"blocks": [block]}))
    assert "next" not in run("manifest", "push").out


@pytest.mark.long
def test_logs_follow_what_happens(
    run: Run, signed_in: str, installation: Installation, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    token = {"HTTP_AUTHORIZATION": f"Bearer {installation.raw_token}"}
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        """What happens between two looks."""
        looks.append(seconds)
        if len(looks) == 1:
            client.get("/app-api/products/1", **token)
            flush()
        elif len(looks) == 2:
            assert main(("trigger", "order.created")) == 0
        elif len(looks) == 3:
            drain()
        elif len(looks) > 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(logs.time, "sleep", sleep)
    outcome = run("logs", "-f", "--json")
    assert outcome.status == 130
    entries = [json.loads(line) for line in outcome.out.splitlines() if line.startswith("{")]
    assert [(each["kind"], each["name"], each["status"]) for each in entries] == [
        ("api", "GET /app-api/products/1", "404"),
        ("webhook", "order.created", "PENDING"),
        ("webhook", "order.created", "RETRYING"),
    ]
    assert entries[0]["reason"] == "Product not found"
    assert entries[2]["reason"].startswith("Failing: ")
    assert "Product not found" in run("logs").out


@pytest.mark.long
def test_members_are_invited_changed_and_removed(
    run: Run, platform: str, dana: User, sam: User, app: App
) -> None:
    rights = {"rights": ["members"]}
    issued = create_developer_token(user=dana, name="Owner", lifetime=timedelta(days=1), **rights)
    keep(Account(platform, issued.text))
    factories.member(app, sam)
    assert run("members", "--invite", "kim@example.com").status == 2
    assert run("members", "--role", "viewer").status == 2
    assert run("members", "--invite", "kim@example.com", "--role", "viewer").status == 0
    assert run("members", "--change", "SAM@example.com", "--role", "viewer").status == 0
    listed = sorted(run("members").out.splitlines())
    assert listed == [
        "OWNER      dana@example.com",
        "VIEWER     kim@example.com (invited)",
        "VIEWER     sam@example.com",
    ]
    assert "no member" in run("members", "--remove", "nobody@example.com").err
    assert run("members", "--remove", "kim@example.com").status == 0
    assert run("members", "--remove", "sam@example.com").status == 0
    assert run("members").out == "OWNER      dana@example.com\n"


def test_members_need_a_token_with_the_right(run: Run, signed_in: str, app: App) -> None:
    outcome = run("members", "--invite", "kim@example.com", "--role", "viewer")
    assert (outcome.status, "the right “members”" in outcome.err) == (1, True)


@pytest.mark.long
def test_release_without_a_browser(
    run: Run, signed_in: str, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.app(dana, slug="ring")
    assert "(ring): DRAFT" in run("status").out
    assert run("versions").out == "No version is approved yet.\n"
    submitted = json.loads(run("submit", "--how-to-test", "Press the bell.", "--json").out)
    assert (submitted["status"], Submission.objects.get().how_to_test) == (
        "PENDING_REVIEW",
        "Press the bell.",
    )
    state = json.loads(run("status", "--json").out)
    assert (state["app"]["status"], state["submission"]["id"]) == ("PENDING_REVIEW", submitted["id"])
    assert state["liveVersion"] is None
    song = factories.app(dana, slug="song")
    first = factories.approve(song)
    App.objects.filter(pk=song.pk).update(version="1.1.0")
    song.refresh_from_db()
    factories.approve(song)
    (current, earlier) = json.loads(run("versions", "--app", "song", "--json").out)
    assert (current["isCurrent"], earlier["isCurrent"], earlier["number"]) == (True, False, first.number)
    assert "Stores use version 1.1.0" in run("status", "--app", "song").out
    assert "1.1.0: COMPLETE, 100%" in run("release", "--app", "song").out
    assert "it can't be halted" in run("release", "halt", "--app", "song").err
    for action in ([], ["resume"]):
        unused = run("release", *action, "--reason", "Wrong notes.", "--app", "song")
        assert (unused.status, "--reason goes with halt and back" in unused.err) == (2, True)
    back = json.loads(run("release", "back", "--reason", "Wrong notes.", "--app", "song", "--json").out)
    assert (back["state"], back["reason"]) == ("TAKEN_BACK", "Wrong notes.")
    newest, before = run("versions", "--app", "song").out.splitlines()
    assert (newest.endswith("taken back"), before.endswith("in use")) == (True, True)
    App.objects.filter(pk=song.pk).update(version="1.2.0", status="DRAFT")
    made = json.loads(run("submit", "--release", "steps", "--app", "song", "--json").out)
    assert made["release"] == "STEPS"
    factories.approve(App.objects.get(pk=song.pk))
    restore = ("restore", str(first.number), "--app", "song")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    refused = run(*restore)
    assert (refused.status, "it replaces your working copy" in refused.err) == (1, True)
    assert App.objects.get(pk=song.pk).version == "1.2.0"
    assert f"is at version {first.version} again" in run(*restore, "--yes").out


def test_failed_submit_says_what_is_wrong(run: Run, signed_in: str, dana: User) -> None:
    factories.app(dana, slug="ring", redirect_url="")
    outcome = run("submit")
    assert outcome.status == 1
    assert "redirectUrl: " in outcome.err
    as_json = run("submit", "--json")
    record = json.loads(as_json.out)
    assert (as_json.status, record["statusCode"]) == (1, 400)
    assert "redirectUrl" in [each["field"] for each in record["details"]]


def test_submit_names_missing_countries_and_submits(run: Run, signed_in: str, dana: User) -> None:
    """Nothing is refused for it, and an app that reads nothing about people isn't asked."""
    said = "Doesn't say where the data goes"
    for slug, scopes, countries, is_named in (
        ("ring", ["read_orders"], [], True),
        ("rate", ["read_reviews"], ["DE"], False),
        ("list", ["read_products"], [], False),
    ):
        factories.app(dana, slug=slug, scopes=scopes, data_countries=countries)
        outcome = run("submit", "--app", slug)
        assert (outcome.status, said in outcome.out, "is submitted" in outcome.out) == (0, is_named, True)


@pytest.mark.long
def test_submit_says_what_the_page_review_says(run: Run, signed_in: str, dana: User, sam: User) -> None:
    """In the same words: neither lacks what the other has."""
    factories.approve(factories.app(sam, slug="stamps", name="Stamp Card"))
    factories.app(dana, slug="ring", name="Stamp Card", scopes=["read_orders"])
    page = text_of(signed_in_browser(dana).get("/portal/apps/ring/review/"), 200)
    warned = re.findall(r'class="kind-warn">.*?<p class="title">(.*?)</p>', page, re.DOTALL)
    said = run("submit").out
    assert [line for line in map(html.unescape, warned) if line.rstrip(".") not in said] == []
    questions = re.findall(r"^  (?!http)(.+)", said, re.MULTILINE)
    assert len(questions) == len(warned)
    for wanted in (
        "No icon",
        "No screenshots",
        "No support contact",
        "No privacy policy",
        "The name looks like",
    ):
        assert wanted in said
    assert "/portal/apps/ring/review/" in said
