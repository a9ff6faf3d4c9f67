"""Which changes widen an app's reach, and what stores run until their merchants agreed (contract, section 2, "Reach")."""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.hooks.live import hooks_at
from extensions.in_store.capabilities import offered_capabilities, open_requests, requested
from extensions.manifest.content import definitions_in
from extensions.manifest.reach import added_reach
from extensions.models import LiveDefinition, ReachRequest
from extensions.queries import extensions_on
from extensions.services.manifests import save_manifest
from installations.models import Installation
from installations.services import approve_scopes
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import reviews
from stores.hookpoints import HookPoint
from tests import factories
from tests.extensions.manifests import Document, admin_page, block, full, hook, script, widget
from tests.merchants.pages import installed

REACH = "Contract 2 Reach"
agree_to_pins = import_module("extensions.migrations.0010_agreed_pins").agree
SCRIPT = "https://stars.example.com/count.js"
PIN, OTHER_PIN = f"sha256-{'A' * 43}=", f"sha256-{'B' * 43}="

# What is saved after the approval of `full()`, by the list that it replaces; and what of it widens.
CHANGES: list[tuple[str, Document, list[str]]] = [
    ("the same again", {}, []),
    ("nothing at all", {"blocks": [], "embeds": [], "hooks": [], "adminPages": []}, []),
    ("texts and settings of a block", {"blocks": [block(name="Ratings", defaultConfig={})]}, []),
    ("another path of a frame", {"blocks": [block(renderUrl="https://stars.example.com/new?a=1")]}, []),
    ("another spelling of the host", {"blocks": [block(renderUrl="https://STARS.example.com:443/x")]}, []),
    ("another host", {"blocks": [block(renderUrl="https://evil.example.com/block")]}, ["stars"]),
    ("another port", {"blocks": [block(renderUrl="https://stars.example.com:8443/")]}, ["stars"]),
    ("a new block on a known host", {"blocks": [block(), block(blockType="wall")]}, []),
    ("a new admin page on a known host", {"adminPages": [admin_page(pageId="more")]}, []),
    ("an admin page elsewhere", {"adminPages": [admin_page(renderUrl="https://b.example/")]}, ["overview"]),
    ("a script's place", {"embeds": [script(position="body_end", name="Count"), widget()]}, []),
    ("another script URL", {"embeds": [script(scriptUrl=f"{SCRIPT}?v=2")]}, ["counter"]),
    ("the same script once more", {"embeds": [script(), script(embedType="twin")]}, ["twin"]),
    ("an added pin", {"embeds": [script(integrity=PIN)]}, []),
    ("a widget's path", {"embeds": [widget(renderUrl="https://stars.example.com/x")]}, []),
    ("a widget's corner", {"embeds": [widget(position="bottom_left")]}, ["chat"]),
    ("a new widget on a known host", {"embeds": [widget(embedType="help")]}, ["help"]),
    ("a widget that becomes a script", {"embeds": [script(embedType="chat")]}, ["chat"]),
    ("a script that becomes a widget", {"embeds": [widget(embedType="counter")]}, ["counter"]),
    ("a hook's path, timeout, priority", {"hooks": [hook(url="/new", timeout=100, priority=1)]}, []),
    ("a new hook point", {"hooks": [hook(), hook(hookPoint="order.validate")]}, ["order.validate"]),
]


@pytest.mark.spec(REACH, "What widens the reach of an approved version, and what doesn't")
@pytest.mark.parametrize(
    ("change", "expected"), [each[1:] for each in CHANGES], ids=[each[0] for each in CHANGES]
)
def test_what_widens(change: Document, expected: list[str]) -> None:
    assert [each.key for each in added_reach(full(), full() | change)] == expected


@pytest.mark.spec(REACH, "An integrity that changes or goes widens the reach")
@pytest.mark.parametrize(
    ("saved", "widens"), [(PIN, False), (OTHER_PIN, True), (None, True)], ids=["same", "changed", "gone"]
)
def test_pin_is_kept(saved: str | None, widens: bool) -> None:
    embed = script() if saved is None else script(integrity=saved)
    added = added_reach({"embeds": [script(integrity=PIN)]}, {"embeds": [embed]})
    assert [each.key for each in added] == (["counter"] if widens else [])


def content(document: Document, key: str) -> Any:
    return next(each.content for each in definitions_in(document) if each.key == key)


# --- What stores run ------------------------------------------------------------------------------------


def save(app: App, document: Document) -> None:
    save_manifest(app=app, developer=app.developer, document=document)


def approve(app: App) -> App:
    reviews.approve(submission=factories.submit(app), reviewer=factories.reviewer())
    follow_all()
    return App.objects.get(pk=app.pk)


def agree(installation: Installation) -> None:
    approve_scopes(installation=installation, user=installation.business.owner)


def running(business: Business) -> dict[str, Any]:
    """The content by key of everything that runs, with a hook as the checkout would ask it."""
    found = {
        each.definition.key: each.definition.content
        for kind in ExtensionType
        for each in extensions_on(business, kind)
    }
    asked = {point for point in HookPoint if hooks_at(business, point)}
    assert asked == {key for key in found if key in list(HookPoint)}
    return found


@pytest.fixture
def app(dana: User) -> App:
    return factories.app(dana, webhook_url="https://stars.example.com/hooks")


@pytest.fixture
def install(shop: Business, app: App) -> Installation:
    """On a store, of an app that was approved with a block and a hook."""
    save(app, {"blocks": [block()], "hooks": [hook()]})
    return installed(approve(app), shop)


@pytest.mark.long
@pytest.mark.spec(REACH, "What widens waits for approval and consent; what doesn't is live at once")
def test_a_definition_that_widens_stays_as_it_was_approved(
    shop: Business, sandbox: Business, app: App, install: Installation
) -> None:
    factories.installation(app, sandbox)
    elsewhere = block(name="Ratings", renderUrl="https://evil.example.com/")
    save(app, {"blocks": [elsewhere], "hooks": [hook(timeout=100)], "embeds": [script()]})

    assert running(sandbox)["stars"]["name"] == "Ratings"
    assert set(running(sandbox)) == {"stars", "counter", "order.calculate_discounts"}
    assert running(shop)["stars"]["name"] == "Star rating", "one definition is the unit"
    assert running(shop)["order.calculate_discounts"]["timeout"] == 100
    assert "counter" not in running(shop)
    assert not ReachRequest.objects.exists(), "no merchant is asked for what no reviewer has seen"

    approve(app)
    assert running(shop)["stars"]["name"] == "Star rating"
    assert "counter" not in running(shop)

    agree(install)
    assert running(shop) == running(sandbox)


def test_what_was_approved_comes_before_what_a_store_agreed_to(
    shop: Business, app: App, install: Installation
) -> None:
    """The last save stays within the reach of the current version, but not within the store's."""
    elsewhere = "https://other.example.com/"
    wall = block(blockType="wall", renderUrl=elsewhere)
    save(app, {"blocks": [block(name="Ratings"), wall]})
    approve(app)
    save(app, {"blocks": [block(name="Moved", renderUrl=elsewhere), wall]})
    assert running(shop)["stars"]["name"] == "Ratings"


@pytest.mark.long
@pytest.mark.spec(REACH, "Removing a part takes effect at once, and it doesn't come back by itself")
def test_removed_and_brought_back(shop: Business, app: App, install: Installation) -> None:
    save(app, {"blocks": [block()]})
    assert set(running(shop)) == {"stars"}
    save(app, {"blocks": [block()], "hooks": [hook()]})
    assert set(running(shop)) == {"stars", "order.calculate_discounts"}, "the current version has it"

    save(app, {"blocks": [block()]})
    approve(app)
    follow_all()
    save(app, {"blocks": [block()], "hooks": [hook()]})
    assert set(running(shop)) == {"stars"}
    approve(app)
    assert set(running(shop)) == {"stars"}, "its merchant is asked again"


def test_a_store_is_asked_for_everything_since_its_yes(
    shop: Business, app: App, install: Installation
) -> None:
    for more in ({"embeds": [script()]}, {"embeds": [script(), widget()]}):
        save(app, {"blocks": [block()], "hooks": [hook()]} | more)
        approve(app)
        follow_all()
    asked = ReachRequest.objects.filter(version=install.agreed_version)
    assert sorted(asked.values_list("definition__key", flat=True)) == ["chat", "counter"]
    assert set(running(shop)) == {"stars", "order.calculate_discounts"}


@pytest.mark.long
def test_rows_stay_few(shop: Business, app: App, install: Installation) -> None:
    """Approvals that ask nothing leave the rows of one version behind."""
    for name in ("One", "Two", "Three"):
        save(app, {"blocks": [block(name=name)], "hooks": [hook()]})
        assert running(shop)["stars"]["name"] == name
        app = approve(app)
        follow_all()
    install.refresh_from_db()
    assert install.agreed_version == app.approved_version
    save(app, {"blocks": [block()], "hooks": [hook()]})
    assert LiveDefinition.objects.count() == 2


def test_sandbox_of_another_developer_runs_what_was_approved(
    sam: User, app: App, install: Installation
) -> None:
    elsewhere = Business.objects.sandbox_of(sam)
    installed(App.objects.get(pk=app.pk), elsewhere)
    save(app, full())
    assert set(running(elsewhere)) == {"stars", "order.calculate_discounts", "overview"}


@pytest.mark.spec(REACH, "A converted install on its developer's sandbox still follows the working copy")
def test_own_sandbox_follows_the_working_copy_after_its_conversion(sandbox: Business, app: App) -> None:
    installed(app, sandbox)
    approve(app)
    follow_all()
    assert not Installation.objects.get().is_test
    save(app, full())
    assert len(running(sandbox)) == 5
    approve(app)
    follow_all()
    assert not open_requests(Installation.objects.all()), "it asks for nothing that runs there"


@pytest.mark.spec(REACH, "A pin that was added goes again at once, so no merchant reads about it")
def test_added_pin_is_not_shown(shop: Business, app: App) -> None:
    save(app, {"embeds": [script()]})
    version = approve(app).approved_version
    install = installed(App.objects.get(pk=app.pk), shop)
    save(app, {"embeds": [script(integrity=PIN)]})
    assert running(shop)["counter"]["integrity"] == PIN
    assert version
    (shown,) = offered_capabilities(version)
    assert "pinned" not in shown.detail
    save(app, {"embeds": [script()]})
    assert "integrity" not in running(shop)["counter"]
    assert not requested(install)


def test_upgrade_keeps_the_pins_and_corners_that_run(shop: Business, app: App) -> None:
    """Before they belonged to the reach, a save changed them at once."""
    widgets = [widget(position=corner) for corner in ("bottom_right", "bottom_left")]
    save(app, {"embeds": [script(integrity=PIN), widgets[0]]})
    installed(approve(app), shop)
    document = {"embeds": [script(integrity=OTHER_PIN), widgets[1]]}
    LiveDefinition.objects.filter(definition__key="counter").update(content=content(document, "counter"))
    LiveDefinition.objects.filter(definition__key="chat").update(content=content(document, "chat"))
    agree_to_pins(apps, connection.schema_editor())
    save(app, document)
    now = running(shop)
    assert (now["counter"]["integrity"], now["chat"]["position"]) == (OTHER_PIN, "bottom_left")
    assert not ReachRequest.objects.exists()
