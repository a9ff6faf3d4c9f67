"""Saving a manifest: what is created, updated, switched off and brought back (specification, "Manifest sync")."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from accounts.models import Business, User
from common.errors import Conflict, Invalid, NotFound
from extensions import definitions
from extensions.enums import ExtensionType
from extensions.manifest import changes as sync
from extensions.models import ApprovedManifest, Definition, Manifest, ManifestSave
from extensions.queries import extensions_on, manifest_document
from extensions.services.manifests import Saved, restore_manifest, save_manifest
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.extensions.manifests import SCHEMA, Document, admin_page, block, full, hook, script, widget

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def save(app: App, document: Document, now: datetime = NOW) -> Saved:
    return save_manifest(app=app, developer=app.developer, document=document, now=now)


def ids(app: App) -> dict[tuple[str, str], UUID]:
    return {(row.type, row.key): row.pk for row in Definition.objects.filter(app=app)}


def active(app: App) -> list[str]:
    return [
        row.key for row in Definition.objects.filter(app=app, is_active=True).order_by("type", "position")
    ]


def keys(saved: Saved) -> dict[str, list[str]]:
    return {name: [each["key"] for each in changes] for name, changes in saved.changes.items()}


# --- Sync ---------------------------------------------------------------------------------------------


@pytest.mark.spec("States/Manifest sync", "New extensions are created and active immediately")
def test_new_definitions_are_created_active(app: App) -> None:
    saved = save(app, full())
    assert saved.changes["updated"] == saved.changes["deactivated"] == []
    assert saved.changes["created"] == [
        {"type": kind, "key": key, "id": str(ids(app)[kind, key])}
        for kind, key in [
            ("block", "stars"),
            ("embed", "counter"),
            ("embed", "chat"),
            ("hook", "order.calculate_discounts"),
            ("adminPage", "overview"),
        ]
    ]
    assert Definition.objects.filter(app=app, is_active=True).count() == 5


@pytest.mark.spec("States/Manifest sync", "Existing extensions are updated in place")
@pytest.mark.spec("States/Manifest sync", "Removed extensions are deactivated, not deleted")
def test_ids_stay_over_update_deactivation_and_return(app: App) -> None:
    save(app, full())
    before = ids(app)

    updated = save(app, full() | {"blocks": [block(name="Ratings")]})
    assert keys(updated) == {"created": [], "updated": ["stars"], "deactivated": []}

    gone = save(app, {"embeds": [script(), widget()]})
    assert keys(gone) == {
        "created": [],
        "updated": [],
        "deactivated": ["stars", "order.calculate_discounts", "overview"],
    } or sorted(keys(gone)["deactivated"]) == ["order.calculate_discounts", "overview", "stars"]
    assert active(app) == ["counter", "chat"]
    kept = Definition.objects.get(app=app, type="block")
    assert (kept.is_active, kept.content["name"]) == (False, "Ratings")

    back = save(app, full())
    assert keys(back) == {
        "created": [],
        "updated": ["stars", "order.calculate_discounts", "overview"],
        "deactivated": [],
    }
    assert ids(app) == before
    assert Definition.objects.filter(app=app, is_active=True).count() == 5


def test_the_same_key_in_two_kinds_is_two_definitions(app: App) -> None:
    save(app, {"blocks": [block()], "adminPages": [admin_page(pageId="stars")]})
    assert len(set(ids(app).values())) == 2


def test_returning_unchanged_counts_as_updated(app: App) -> None:
    save(app, {"hooks": [hook()]})
    save(app, {})
    assert keys(save(app, {"hooks": [hook()]}))["updated"] == ["order.calculate_discounts"]


def test_another_place_in_the_list_is_no_update(app: App) -> None:
    first, second = block(), block(blockType="badge")
    save(app, {"blocks": [first, second]})
    saved = save(app, {"blocks": [second, first]})
    assert keys(saved) == {"created": [], "updated": [], "deactivated": []}
    assert active(app) == ["badge", "stars"]


def test_written_out_defaults_are_no_update(app: App) -> None:
    save(app, {"hooks": [hook()], "blocks": [block()]})
    saved = save(app, {"hooks": [hook(timeout=5000.0, priority=100)], "blocks": [block(category="Other")]})
    assert keys(saved)["updated"] == []
    assert ManifestSave.objects.filter(app=app).count() == 2


def test_true_in_place_of_one_is_an_update(app: App) -> None:
    schema = {"properties": {"a": {"default": 1}}}
    save(app, {"blocks": [block(settingsSchema=schema)]})
    saved = save(app, {"blocks": [block(settingsSchema={"properties": {"a": {"default": True}}})]})
    assert keys(saved)["updated"] == ["stars"]


def test_fields_of_a_schema_stay_in_their_order(app: App) -> None:
    """A settings form has its fields in this order."""
    names = ["zebra", "a", "middle", "b"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    save(app, {"settingsSchema": schema, "blocks": [block(settingsSchema=schema)]})
    assert list(manifest_document(app)["settingsSchema"]["properties"]) == names
    row = Definition.objects.get(app=app)
    assert list(definitions.block(row).settings_schema["properties"]) == names
    turned = {"type": "object", "properties": {name: {"type": "string"} for name in reversed(names)}}
    assert keys(save(app, {"blocks": [block(settingsSchema=turned)]}))["updated"] == ["stars"]


def test_content_has_every_field_with_its_default(app: App) -> None:
    save(app, {"blocks": [block()], "embeds": [script(renderUrl="x"), widget()], "hooks": [hook(url="a/b")]})
    rows = {row.key: row for row in Definition.objects.filter(app=app)}
    a_block = definitions.block(rows["stars"])
    assert (a_block.description, a_block.icon_name, a_block.category) == ("", "", "Other")
    assert (a_block.settings_schema, a_block.default_config) == ({"type": "object"}, {})
    a_script = definitions.embed(rows["counter"])
    assert (a_script.url, a_script.position) == ("https://stars.example.com/count.js", "head")
    assert "renderUrl" not in rows["counter"].content
    assert definitions.embed(rows["chat"]).url == "https://stars.example.com/chat"
    a_hook = definitions.hook(rows["order.calculate_discounts"])
    assert (a_hook.path, a_hook.timeout, a_hook.priority) == ("a/b", 5000, 100)


def test_an_app_touches_no_definition_of_another(app: App, sam: User) -> None:
    other = factories.app(sam)
    save(other, full())
    before = list(Definition.objects.filter(app=other).values())
    save(app, full())
    save(app, {})
    assert list(Definition.objects.filter(app=other).values()) == before


def test_installed_app_gets_its_new_extensions_at_once(app: App, sandbox: Business) -> None:
    factories.installation(app, sandbox)
    save(app, full())
    assert [each.definition.key for each in extensions_on(sandbox, ExtensionType.EMBED)] == [
        "counter",
        "chat",
    ]
    save(app, {})
    assert extensions_on(sandbox, ExtensionType.EMBED) == []


# --- What a save leaves -------------------------------------------------------------------------------


def test_the_same_document_again_changes_nothing(app: App) -> None:
    save(app, full())
    rows = list(Definition.objects.values())
    again = save(app, full(), now=datetime(2026, 11, 22, tzinfo=UTC))
    assert again.changes == {"created": [], "updated": [], "deactivated": []}
    assert ManifestSave.objects.filter(app=app).count() == 1
    assert Manifest.objects.get(app=app).saved_at == NOW
    assert list(Definition.objects.values()) == rows


def test_an_empty_manifest_before_the_first_save_changes_nothing(app: App) -> None:
    assert save(app, {}).document == {}
    assert not Manifest.objects.exists()


def test_each_save_that_changes_something_is_kept(app: App, dana: User) -> None:
    first = save(app, {"hooks": [hook()]})
    save(app, {})
    history = list(ManifestSave.objects.filter(app=app).order_by("id"))
    assert [each.document for each in history] == [{"hooks": [hook()]}, {}]
    assert history[0].changes == first.changes
    assert {each.saved_by for each in history} == {dana}


@pytest.mark.parametrize("status", ["DRAFT", "APPROVED"])
def test_a_save_leaves_the_status_alone(app: App, status: str) -> None:
    App.objects.filter(pk=app.pk).update(status=status)
    save(app, full())
    assert App.objects.get(pk=app.pk).status == status


@pytest.mark.spec("Contract 2 Status", "A manifest can't be saved while the app is in review")
def test_nothing_is_saved_in_review(app: App) -> None:
    factories.submit(app)
    with pytest.raises(Conflict):
        save(app, full())
    assert not Definition.objects.exists()


def test_nothing_is_saved_of_a_bad_manifest(app: App) -> None:
    save(app, {"hooks": [hook()]})
    with pytest.raises(Invalid):
        save(app, full() | {"hooks": [hook(hookPoint="order.nonsense")]})
    assert manifest_document(app) == {"hooks": [hook()]}
    assert active(app) == ["order.calculate_discounts"]


def test_only_the_developer_saves(app: App, sam: User) -> None:
    with pytest.raises(NotFound):
        save_manifest(app=app, developer=sam, document=full())
    App.objects.filter(pk=app.pk).update(deleted_at=NOW)
    with pytest.raises(NotFound):
        save(app, full())
    assert not Manifest.objects.exists()


def test_restore_saves_an_earlier_manifest_again(app: App, dana: User) -> None:
    save(app, full())
    before = ids(app)
    save(app, {})
    earlier = ManifestSave.objects.filter(app=app).order_by("id")[0]
    restore_manifest(save=earlier, developer=dana)
    assert manifest_document(app) == full()
    assert ids(app) == before
    assert ManifestSave.objects.filter(app=app).count() == 3


def test_restore_applies_the_current_rules(app: App, dana: User, settings: Any) -> None:
    settings.DEBUG = True
    save(app, {"blocks": [block(renderUrl="http://localhost:8001/")]})
    save(app, {})
    settings.DEBUG = False
    with pytest.raises(Invalid):
        restore_manifest(save=ManifestSave.objects.filter(app=app).order_by("id")[0], developer=dana)
    assert manifest_document(app) == {}


# --- The plan -----------------------------------------------------------------------------------------


def test_the_plan_writes_nothing_and_says_what_a_save_would_do(app: App) -> None:
    save(app, {"hooks": [hook()], "blocks": [block()]})
    document = {"blocks": [block(name="Ratings")], "embeds": [widget()]}
    planned = sync.plan(app, document)
    assert [each.defined.key for each in planned.created] == ["chat"]
    assert [each.defined.key for each in planned.updated] == ["stars"]
    assert [each.defined.key for each in planned.deactivated] == ["order.calculate_discounts"]
    assert active(app) == ["stars", "order.calculate_discounts"]
    saved = save(app, document)
    assert keys(saved) == {
        "created": ["chat"],
        "updated": ["stars"],
        "deactivated": ["order.calculate_discounts"],
    }


# --- After approval -----------------------------------------------------------------------------------


def approved(app: App) -> App:
    reviews.approve(submission=factories.submit(app), reviewer=factories.reviewer(), now=NOW)
    return App.objects.get(pk=app.pk)


def test_an_approval_keeps_the_manifest_of_then(app: App) -> None:
    save(app, full())
    app = approved(app)
    save(app, {})
    kept = ApprovedManifest.objects.get(version=app.approved_version)
    assert kept.document == full()


# --- At once ------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_saves_at_once_go_one_after_the_other(app: App) -> None:
    """The last one counts as a whole: its definitions are the active ones, each key has one row."""
    documents = [
        {"blocks": [block(blockType=f"b{n}-{m}") for m in range(5)] + [block(name=f"Name {n}")]}
        for n in range(8)
    ]

    def save_one(document: Document) -> dict[str, list[str]]:
        try:
            return keys(save(app, document))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(save_one, documents))

    final = manifest_document(app)
    assert final in documents
    assert active(app) == [each["blockType"] for each in final["blocks"]]
    assert sum("stars" in result["created"] for result in results) == 1
    assert sum("stars" in result["updated"] for result in results) == 7
    assert Definition.objects.filter(app=app).count() == 8 * 5 + 1
    assert ManifestSave.objects.filter(app=app).count() == 8


def test_schema_of_settings_is_the_saved_one(app: App) -> None:
    save(app, {"settingsSchema": SCHEMA})
    assert manifest_document(app) == {"settingsSchema": SCHEMA}
