"""The app in the repository: ``app.json`` beside ``manifest.json``, for each environment."""

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from extensions.queries import manifest_document
from marketplace.models import App
from tests import factories
from tests.sdk.cli.json_output import validated
from tests.sdk.cli.runs import Run
from tools.sdk_types import SDK

pytestmark = [pytest.mark.timed, pytest.mark.long]
FILE = Path("app.json")


@pytest.fixture(autouse=True)
def _on_this_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.fixture
def project(run: Run, signed_in: str) -> App:
    """Made by `new`, whose folder is the current one."""
    assert run("new", "Ring", "--template", "flask", "--sdk", str(SDK)).status == 0
    os.chdir("ring")
    return App.objects.get()


def change(**fields: Any) -> None:
    FILE.write_text(json.dumps(json.loads(FILE.read_text()) | fields))


def test_what_new_writes_is_the_app(run: Run, project: App) -> None:
    assert run("app", "diff").out == "No changes.\n"
    files = validated("app", run("app", "pull", "--json").out)["files"]
    assert [Path(file).name for file in files] == ["app.json", "manifest.json"]
    assert "No changes" in run("app", "push").out


def test_push_saves_the_file_and_leaves_what_it_does_not_name(run: Run, project: App) -> None:
    App.objects.update(long_description="**Rings.**")
    change(name="Ring ring", scopes=["read_orders", "read_pages", "read_products", "read_reviews"])
    change(supportUrl="help@ring.example", dataCountries=["DE"], server="http://localhost:4000")
    shown = run("app", "diff").out
    assert '- "Ring"\n  + "Ring ring"' in shown
    assert '+ "http://localhost:4000/webhooks"' in shown
    assert App.objects.get().name == "Ring"
    pushed = validated("app", run("app", "push", "--json").out)
    assert pushed["saved"]
    app = App.objects.get()
    assert (app.name, app.support_url, app.data_countries) == (
        "Ring ring",
        "mailto:help@ring.example",
        ["DE"],
    )
    assert (app.webhook_url, app.long_description) == ("http://localhost:4000/webhooks", "**Rings.**")
    assert manifest_document(app)["blocks"][0]["renderUrl"] == "http://localhost:4000/block"
    assert run("app", "diff").out == "No changes.\n"
    assert json.loads(run("manifest", "diff", "--json").out)["differences"] == []


def test_push_that_loses_something_asks(run: Run, project: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """In CI, where there is no terminal, it saves nothing unless that is allowed."""
    change(scopes=["read_orders"])
    manifest = Path("manifest.json")
    manifest.write_text(json.dumps({"hooks": json.loads(manifest.read_text())["hooks"]}))
    lost = "This push loses something: scopes loses read_products, read_pages; Block opening_hours is switched off."
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    refused = run("app", "push")
    assert (refused.status, lost in refused.err, "--allow-deletes" in refused.err) == (1, True, True), (
        refused.err
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert run("app", "push").status == 1
    assert len(App.objects.get().scopes) == 3
    assert "blocks" in manifest_document(project)
    assert run("app", "push", "--allow-deletes").status == 0
    assert App.objects.get().scopes == ["read_orders"]
    assert list(manifest_document(App.objects.get())) == ["hooks"]


def test_pull_overwrites_no_change(run: Run, project: App) -> None:
    """Addresses on the server stay as they are written."""
    App.objects.update(name="By the portal")
    before = FILE.read_text()
    assert run("app", "pull").status == 1
    assert FILE.read_text() == before
    assert run("app", "pull", "--force").status == 0
    found = json.loads(FILE.read_text())
    assert (found["name"], found["webhookUrl"]) == ("By the portal", "{server}/webhooks")
    assert json.loads(Path("manifest.json").read_text())["blocks"][0]["renderUrl"] == "{server}/block"


def test_environment_is_an_app_of_its_own(run: Run, project: App) -> None:
    """One push registers it: with its own server, name and credentials, and the scopes that it shares."""
    staging = {"name": "Ring (staging)", "server": "http://localhost:4001"}
    missing = run("status", "--environment", "staging")
    assert (missing.status, "app push --environment staging" in missing.err) == (1, True)
    assert "has no environment staging" in run("app", "push", "--environment", "staging").err
    change(environments={"staging": staging})
    assert run("app", "push", "--environment", "staging").status == 0
    app = App.objects.get(slug="ring-staging")
    assert (app.name, app.scopes, app.webhook_url) == (
        "Ring (staging)", project.scopes, "http://localhost:4001/webhooks",
    )  # fmt: skip
    assert manifest_document(app)["blocks"][0]["renderUrl"] == "http://localhost:4001/block"
    assert f"CLIENT_ID={app.client_id}\n" in Path(".env.staging").read_text()
    assert ".env.*" in Path(".gitignore").read_text()
    assert run("app", "diff", "--environment", "staging").out == "No changes.\n"
    assert run("app", "pull", "--environment", "staging").status == 0
    assert json.loads(FILE.read_text())["environments"] == {"staging": staging}
    assert "(ring-staging): DRAFT" in run("status", "--environment", "staging").out
    assert "(ring): DRAFT" in run("status").out
    assert App.objects.get(pk=project.pk).name == "Ring"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"scope": []}', "unknown field scope. Did you mean scopes?"),
        ('{"environments": {"staging": {"slug": "x"}}}', "unknown field staging.slug"),
        ("[]", "must be a JSON object"),
        ("{", "can't be read as JSON"),
        ('{"webhookUrl": "{server}/x"}', "needs the server"),
        ('{"server": "http://localhost:3000", "name": ""}', "name: Must not be empty."),
    ],
)
def test_wrong_file_is_named(run: Run, project: App, text: str, said: str) -> None:
    FILE.write_text(text)
    refused = run("app", "push", "--allow-deletes")
    assert (refused.status, said in refused.err) == (1, True), refused.err
    assert App.objects.get().name == "Ring"


def test_app_of_the_portal_comes_into_a_repository(run: Run, signed_in: str, dana: User) -> None:
    factories.app(dana, slug="song", name="Song", webhook_url="https://song.example/hooks")
    assert run("app", "pull").status == 0
    assert json.loads(FILE.read_text())["webhookUrl"] == "https://song.example/hooks"
    assert run("app", "diff").out == "No changes.\n"
    assert json.loads(Path("extension-platform.json").read_text())["app"] == str(App.objects.get().pk)
