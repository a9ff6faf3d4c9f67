"""Creating, editing and deleting apps, below the API and the portal."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.hashers import check_password
from django.db import IntegrityError, connection, transaction

from accounts.models import User
from accounts.services.confirmation import confirm
from common.errors import Conflict, Invalid, NotAllowed, NotFound
from installations.models import Installation
from marketplace.enums import AppRole
from marketplace.models import App, AppVersion, Picture
from marketplace.scopes import SCOPES
from marketplace.services.apps import (
    IssuedApp,
    SlugTaken,
    create_app,
    delete_app,
    require_room,
    rotate_client_secret,
    update_app,
)
from marketplace.services.locks import lock_app
from marketplace.services.pictures import decode
from marketplace.signals import app_updated
from tests import factories
from tests.pictures import upload
from tests.signals import heard
from tests.waiting import wait_for_locks

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 12, tzinfo=UTC)

FIELDS: dict[str, Any] = {
    "name": "Loyalty Stars",
    "slug": "loyalty-stars",
    "description": "Stars for regulars.",
    "category": "loyalty",
    "scopes": ["read_orders", "read_products"],
    "redirect_url": "https://stars.example.com/callback",
}


def create(developer: User, **fields: Any) -> IssuedApp:
    return create_app(developer=developer, **(FIELDS | fields))


@pytest.mark.spec(
    "Resources/App", "On creation the developer receives a Client ID and a Client Secret fbcs_…"
)
def test_create_gives_a_draft_with_credentials(dana: User) -> None:
    issued = create(dana, now=NOW)
    app = App.objects.get()
    assert issued.app == app
    assert (app.developer, app.status, app.version) == (dana, "DRAFT", "0.1.0")
    assert (app.created_at, app.updated_at, app.client_secret_issued_at) == (NOW, NOW, NOW)
    assert len(app.client_id) >= 20
    assert issued.client_secret.startswith("fbcs_")
    assert app.client_secret_hint == issued.client_secret[-4:]


@pytest.mark.spec("Contract 3 OAuth", "Client secrets are stored only as hashes")
def test_create_keeps_no_secret(dana: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        issued = create(dana)
    row = App.objects.values().get()
    assert check_password(issued.client_secret, row["client_secret"])
    assert issued.client_secret not in str(row)
    assert issued.client_secret not in caplog.text
    assert issued.app.client_secret != issued.client_secret


def test_create_puts_scopes_in_order_without_repeats(dana: User) -> None:
    app = create(dana, scopes=["write_orders", "read_products", "write_orders"]).app
    assert app.scopes == ["read_products", "write_orders"]


@pytest.mark.parametrize("field", list(FIELDS))
def test_create_without_a_required_value_is_refused(dana: User, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        create(dana, **{field: [] if field == "scopes" else "  "})
    assert [problem["field"] for problem in caught.value.details] == [field]
    assert not App.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("name", "x" * 81, "name"),
        ("name", "a\x00b", "name"),
        ("description", "x" * 301, "description"),
        ("slug", "x" * 61, "slug"),
        ("slug", "Loyalty", "slug"),
        ("slug", "a b", "slug"),
        ("slug", "a/b", "slug"),
        ("slug", "-a", "slug"),
        ("slug", "é", "slug"),
        ("category", "games", "category"),
        ("scopes", ["read_orders", "read_minds"], "scopes[1]"),
        ("webhook_events", ["order.created", "webhook.test"], "webhook_events[1]"),
        ("webhook_events", ["app.uninstalled"], "webhook_events[0]"),
        ("redirect_url", "http://stars.example.com/callback", "redirect_url"),
        ("redirect_url", "https://stars.example.com/callback#x", "redirect_url"),
        ("redirect_url", "javascript:alert(1)", "redirect_url"),
        ("webhook_url", "https://10.0.0.1/hooks", "webhook_url"),
        ("webhook_url", "ftp://stars.example.com", "webhook_url"),
        ("version", "1.0", "version"),
        ("version", "01.0.0", "version"),
        ("version", "v1.0.0", "version"),
        ("version", "1.0.0-01", "version"),
        ("version", "1.0.0+" + "a" * 60, "version"),
        ("long_description", "x" * 5001, "long_description"),
        ("long_description", "a\x00b", "long_description"),
        ("support_url", "call me", "support_url"),
        ("support_url", "help@", "support_url"),
        ("support_url", "javascript:alert(1)", "support_url"),
        ("privacy_url", "http://stars.example.com/privacy", "privacy_url"),
        ("privacy_url", "mailto:help@stars.example.com", "privacy_url"),
    ],
)
def test_create_with_a_bad_value_names_it(dana: User, field: str, value: Any, named: str) -> None:
    with pytest.raises(Invalid) as caught:
        create(dana, **{field: value})
    assert [problem["field"] for problem in caught.value.details] == [named]


def test_only_a_taken_slug_is_called_taken(dana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    create(dana)
    with pytest.raises(SlugTaken):
        create(dana)

    def fail(*args: Any, **options: Any) -> None:
        raise IntegrityError("oauth2_client_id_key")

    monkeypatch.setattr(App, "save", fail)
    with pytest.raises(IntegrityError, match="client_id"):
        create(dana, slug="other-stars")


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_apps_at_once_are_counted_one_after_the_other(
    dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marketplace.services.apps.MOST_APPS", 1)

    def second() -> object:
        try:
            return create(dana, slug="second")
        except Conflict as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            require_room(dana)
            call = pool.submit(second)
            wait_for_locks(1, or_until=call.done)
            factories.app(dana)
        assert call.result() == "too_many_apps"


@pytest.mark.parametrize(
    "version", ["0.0.0", "1.0.0-alpha.1", "1.0.0-0a", "1.0.0+001", "1.2.3----R-S.12.9.1--.12+meta"]
)
def test_create_takes_every_semantic_version(dana: User, version: str) -> None:
    assert create(dana, version=version).app.version == version


def test_create_needs_a_confirmed_address(dana: User, settings: Any) -> None:
    settings.CONFIRM_ADDRESSES = True
    with pytest.raises(NotAllowed, match="Confirm your e-mail address first"):
        create(dana)
    assert not App.objects.exists()
    confirm(user=dana)
    assert create(dana).app.developer == dana


def test_only_a_new_webhook_url_is_looked_up(dana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create(dana, webhook_url="https://stars.example.com/hooks").app
    monkeypatch.setattr("common.http.url_policy.resolve_host", lambda host, budget: [ip_address("10.0.0.1")])
    with pytest.raises(Invalid) as caught:
        create(dana, slug="other-stars", webhook_url=app.webhook_url)
    assert [problem["field"] for problem in caught.value.details] == ["webhook_url"]
    with pytest.raises(Invalid) as caught:
        update_app(app=app, changes={"webhook_url": "https://stars.example.com/new"})
    assert [problem["field"] for problem in caught.value.details] == ["webhook_url"]
    changed = update_app(app=app, changes={"webhook_url": app.webhook_url, "description": "New."})
    assert changed.description == "New."


def test_slug_and_name_of_before_a_rule_stay(dana: User) -> None:
    create(dana)
    App.objects.update(slug="Loyalty", name="Extension Platform")
    app = App.objects.get()
    kept = {"slug": "Loyalty", "name": "Extension Platform"}
    assert update_app(app=app, changes={"description": "New."} | kept).description == "New."
    with pytest.raises(Invalid) as caught:
        update_app(app=app, changes={"name": "Extension Platform!"})
    assert [problem["field"] for problem in caught.value.details] == ["name"]


def test_create_names_every_problem_at_once(dana: User) -> None:
    with pytest.raises(Invalid) as caught:
        create(dana, name="", slug="A", version="1")
    assert [problem["field"] for problem in caught.value.details] == ["name", "slug", "version"]


def test_create_trims_text_but_no_identifier(dana: User) -> None:
    app = create(dana, name=" Stars ", description="Stars.\n").app
    assert (app.name, app.description) == ("Stars", "Stars.")
    with pytest.raises(Invalid):
        create(dana, slug="b", version="1.0.0\n")


def test_create_takes_local_urls_only_where_settings_allow(dana: User, settings: Any) -> None:
    settings.DEBUG = True
    local = {"redirect_url": "http://127.0.0.1:9000/cb", "webhook_url": "http://localhost:9000/hooks"}
    assert create(dana, **local).app.webhook_url == local["webhook_url"]
    settings.ALLOW_LOCAL_DESTINATIONS = False
    with pytest.raises(Invalid) as caught:
        create(dana, slug="b", **local)
    assert [problem["field"] for problem in caught.value.details] == ["webhook_url"]
    settings.DEBUG = False
    with pytest.raises(Invalid) as caught:
        create(dana, slug="b", **local)
    assert [problem["field"] for problem in caught.value.details] == ["redirect_url", "webhook_url"]


def test_create_refuses_a_webhook_name_that_points_inside(dana: User, settings: Any) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = False
    with pytest.raises(Invalid) as caught:
        create(dana, webhook_url="https://inside.localhost/")
    assert [problem["field"] for problem in caught.value.details] == ["webhook_url"]


def test_create_with_a_taken_slug_is_a_conflict(dana: User, sam: User) -> None:
    create(dana)
    with pytest.raises(SlugTaken):
        create(sam)


def test_create_with_the_slug_of_a_deleted_app_works(dana: User, sam: User) -> None:
    delete_app(app=create(dana).app)
    assert create(sam).app.slug == "loyalty-stars"


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_create_in_parallel_gives_a_slug_once(dana: User) -> None:
    together = threading.Barrier(5)

    def press() -> bool:
        try:
            together.wait()
            create(dana)
        except Conflict:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        outcomes = [call.result() for call in [pool.submit(press) for _ in range(5)]]
    assert sorted(outcomes) == [False] * 4 + [True]


def test_update_of_a_draft_changes_what_was_named(dana: User) -> None:
    app = create(dana, now=NOW).app
    updated = update_app(app=app, changes={"name": " Stars ", "webhook_url": ""}, now=LATER)
    stored = App.objects.get()
    assert (stored.name, stored.description, stored.updated_at) == ("Stars", FIELDS["description"], LATER)
    assert updated.name == "Stars"


@pytest.mark.spec("Resources/App", "Slug: immutable after creation")
def test_update_of_the_slug_is_refused_and_the_same_one_is_not(dana: User) -> None:
    app = create(dana).app
    with pytest.raises(Invalid) as caught:
        update_app(app=app, changes={"slug": "other", "name": "Other"})
    assert caught.value.details[0]["field"] == "slug"
    assert update_app(app=app, changes={"slug": app.slug}).slug == app.slug
    assert App.objects.get().name == FIELDS["name"]


@pytest.mark.spec("States/App status", "A submitted app is not editable")
def test_update_in_review_is_a_conflict(dana: User) -> None:
    app = create(dana).app
    App.objects.update(status="PENDING_REVIEW")
    for changes in ({"name": "New"}, {"webhook_events": ["order.created"]}, {}):
        with pytest.raises(Conflict):
            update_app(app=app, changes=changes)


def test_update_of_a_deleted_app_is_not_found(dana: User) -> None:
    app = create(dana).app
    delete_app(app=app)
    with pytest.raises(NotFound):
        update_app(app=app, changes={"name": "New"})


@pytest.mark.spec(
    "Contract 2 Status after approval", "Editing a frozen field of an APPROVED app makes it DRAFT"
)
@pytest.mark.parametrize(
    "changes",
    [
        {"name": "New"},
        {"description": "New"},
        {"category": "other"},
        {"scopes": ["read_pages"]},
        {"redirect_url": "https://new.example.com/"},
        {"webhook_url": "https://hooks.example.com/"},
        {"version": "1.0.0"},
        {"long_description": "More."},
        {"support_url": "help@example.com"},
        {"privacy_url": "https://example.com/privacy"},
        {"data_countries": ["DE"]},
        {"data_processors": "Mailer Ltd."},
    ],
)
def test_update_of_an_approved_app_makes_it_a_draft(
    dana: User, changes: dict[str, Any], settings: Any
) -> None:
    app = create(dana).app
    version = factories.approve(app)
    updated = update_app(app=app, changes=changes)
    assert (updated.status, updated.is_listed, updated.approved_version) == ("DRAFT", True, version)


def test_update_with_new_pictures_of_an_approved_app_makes_it_a_draft(dana: User) -> None:
    app = create(dana).app
    factories.approve(app)
    assert update_app(app=app, changes={"icon": decode(upload())}).status == "DRAFT"
    app.refresh_from_db()
    assert (app.status, app.is_listed) == ("DRAFT", True)
    assert app.icon


@pytest.mark.spec("Contract 9 Apps", "A PATCH that changes nothing leaves the status")
def test_update_that_changes_nothing_leaves_status_and_time(dana: User) -> None:
    app = create(dana, now=NOW).app
    factories.approve(app)
    same = {**FIELDS, "scopes": list(reversed(FIELDS["scopes"])), "icon": None, "screenshots": []}
    updated = update_app(app=app, changes=same, now=LATER)
    assert (updated.status, updated.updated_at) == ("APPROVED", NOW)


@pytest.mark.spec("Contract 9 Apps", "webhookEvents applies at once and leaves the status")
def test_update_of_webhook_events_leaves_the_status(dana: User) -> None:
    app = create(dana).app
    factories.approve(app)
    names = ["order.created", "business.data_erasure", "order.created"]
    updated = update_app(app=app, changes={"webhook_events": names})
    assert updated.status == "APPROVED"
    assert App.objects.get().webhook_events == ["order.created", "business.data_erasure"]


def test_update_tells_what_changed(dana: User) -> None:
    app = create(dana).app
    with heard(app_updated) as calls:
        update_app(app=app, changes={"name": "New", "category": "loyalty"})
        update_app(app=app, changes={"name": "New"})
    assert [call["changed"] for call in calls] == [{"name"}]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_update_in_parallel_loses_no_edit(dana: User) -> None:
    app = create(dana).app
    changes = [{"name": "New"}, {"description": "New"}, {"version": "2.0.0"}, {"category": "other"}]
    together = threading.Barrier(len(changes))

    def press(change: dict[str, Any]) -> None:
        try:
            together.wait()
            update_app(app=app, changes=change)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(press, changes))
    app.refresh_from_db()
    assert (app.name, app.description, app.version, app.category) == ("New", "New", "2.0.0", "other")


@pytest.mark.long
def test_update_with_pictures_replaces_the_set_and_removes_the_old_files(
    dana: User, django_capture_on_commit_callbacks: Any
) -> None:
    app = create(dana).app
    first = update_app(app=app, changes={"screenshots": [decode(upload()) for _ in range(2)]})
    old = list(Picture.objects.all())
    with django_capture_on_commit_callbacks(execute=True):
        second = update_app(app=app, changes={"screenshots": [decode(upload())]})
    assert len(first.screenshot_ids) == 2
    assert [str(picture.id) for picture in Picture.objects.all()] == second.screenshot_ids
    assert not any(picture.file.storage.exists(picture.file.name) for picture in old)


def test_update_keeps_the_pictures_of_an_approved_version(dana: User) -> None:
    app = create(dana).app
    app = update_app(app=app, changes={"icon": decode(upload())})
    factories.approve(app, icon=app.icon)
    assert update_app(app=app, changes={"icon": None}).icon is None
    assert Picture.objects.count() == 1
    assert AppVersion.objects.get().icon == Picture.objects.get()


@pytest.mark.long
def test_update_may_reorder_the_screenshots_shown_and_name_no_others(dana: User, sam: User) -> None:
    app = create(dana).app
    app = update_app(app=app, changes={"screenshots": [decode(upload()) for _ in range(2)]})
    first, second = app.screenshot_ids
    app = update_app(app=app, changes={"screenshots": [second, first]})
    assert app.screenshot_ids == [second, first]
    others = create(sam, slug="other").app
    with pytest.raises(Invalid):
        update_app(app=others, changes={"screenshots": [first]})


@pytest.mark.long
def test_update_keeps_the_descriptions_of_the_screenshots_that_stay(dana: User) -> None:
    app = create(dana).app
    shots = [decode(upload()) for _ in range(2)]
    app = update_app(app=app, changes={"screenshots": shots, "screenshot_alts": [" The card. ", ""]})
    first, second = app.screenshot_ids
    assert (app.alt_texts, app.screenshot_alts) == ({first: "The card."}, ["The card.", ""])
    app = update_app(app=app, changes={"screenshots": [UUID(second), UUID(first)]})
    assert app.screenshot_alts == ["", "The card."]
    app = update_app(app=app, changes={"screenshots": [UUID(second)]})
    assert app.alt_texts == {}
    for alts in (["One.", "Two."], ["x" * 201], ["a\nb"]):
        with pytest.raises(Invalid):
            update_app(app=app, changes={"screenshot_alts": alts})


@pytest.mark.long
def test_update_with_six_screenshots_is_refused(dana: User) -> None:
    app = create(dana).app
    with pytest.raises(Invalid, match="at most 5"):
        update_app(app=app, changes={"screenshots": [decode(upload()) for _ in range(6)]})
    assert not Picture.objects.exists()


@pytest.mark.spec("Contract 9 Apps", "Test installs and deletion are allowed in PENDING_REVIEW")
@pytest.mark.parametrize("status", ["DRAFT", "PENDING_REVIEW"])
def test_delete_ends_the_test_installs(app: App, installation: Installation, status: str) -> None:
    App.objects.update(status=status)
    delete_app(app=app, now=NOW)
    assert not App.objects.live().exists()
    stored = Installation.objects.get()
    assert (stored.uninstalled_at, stored.token_digest) == (NOW, None)


def test_delete_removes_its_pictures(dana: User, django_capture_on_commit_callbacks: Any) -> None:
    app = update_app(app=create(dana).app, changes={"icon": decode(upload())})
    with django_capture_on_commit_callbacks(execute=True):
        delete_app(app=app, now=LATER)
    assert not Picture.objects.exists()
    app.refresh_from_db()
    assert (app.icon, app.deleted_at) == (None, LATER)


def test_delete_of_an_app_once_approved_is_a_conflict(dana: User) -> None:
    app = create(dana).app
    factories.approve(app)
    App.objects.update(status="DRAFT")
    with pytest.raises(Conflict):
        delete_app(app=app)
    assert App.objects.live().exists()


@pytest.mark.spec("Resources/App", "Regenerating the client secret invalidates the old one immediately")
@pytest.mark.parametrize("status", ["DRAFT", "PENDING_REVIEW", "APPROVED"])
def test_rotate_replaces_the_secret_in_every_state(dana: User, status: str) -> None:
    issued = create(dana)
    App.objects.update(status=status)
    secret = rotate_client_secret(app=issued.app, by=issued.app.developer, now=LATER)
    app = App.objects.get()
    assert check_password(secret, app.client_secret)
    assert not check_password(issued.client_secret, app.client_secret)
    assert (app.client_secret_hint, app.client_secret_issued_at) == (secret[-4:], LATER)
    assert (app.client_id, app.status) == (issued.app.client_id, status)


def test_rotate_by_others_is_refused(dana: User, sam: User) -> None:
    issued = create(dana)
    with pytest.raises(NotFound):
        rotate_client_secret(app=issued.app, by=sam)
    factories.member(issued.app, sam, AppRole.VIEWER)
    with pytest.raises(NotAllowed):
        rotate_client_secret(app=issued.app, by=sam)
    assert check_password(issued.client_secret, App.objects.get().client_secret)
    rotate_client_secret(app=issued.app, by=dana)
    assert App.objects.get().client_secret_issued_at > LATER


def test_app_is_locked_for_its_developers_alone(dana: User, sam: User) -> None:
    app = create(dana).app
    with transaction.atomic():
        assert lock_app(app, developer=dana) == lock_app(app) == app
        for role in (None, AppRole.VIEWER):
            if role:
                factories.member(app, sam, role)
            with pytest.raises(NotFound):
                lock_app(app, developer=sam)


def test_scopes_have_their_table_order(dana: User) -> None:
    assert create(dana, scopes=list(reversed(SCOPES))).app.scopes == list(SCOPES)
