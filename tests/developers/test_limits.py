"""How much one developer may do: requests, apps, changes on sandbox stores, listeners (contract, section 15)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from accounts.models import Business, User
from accounts.services.developer_tokens import create_developer_token
from common.web import limits as rate_limits
from developers import limits
from installations.models import Installation
from marketplace.models import App
from marketplace.services import apps
from tests import factories
from tests.clients import BODY, Api, api_of
from tests.pages import HTML, signed_in, text_of
from teststores.models import TestStore
from webhooks import catalogue
from webhooks.engine import listeners
from webhooks.models import DispatcherSlot, Event
from webhooks.services.sandbox.changes import SCENARIOS

pytestmark = [pytest.mark.django_db, pytest.mark.spec("Contract 15 Doors", "Limits of a developer")]


def is_refused(answer: Any, code: str) -> bool:
    """By an API, with the seconds to wait."""
    assert (answer.status_code, answer.headers.get("X-Error-Code")) == (429, code), answer.content
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert f"{answer['Retry-After']} seconds" in answer.json()["message"]
    return True


def test_developer_api_and_forms_of_the_portal_share_600_a_minute(
    api: Api, sams_api: Api, dana: User, app: App, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    assert rate_limits.PERSON_REQUESTS == 600
    monkeypatch.setattr(rate_limits, "PERSON_REQUESTS", 4)
    portal, path = signed_in(dana), f"/portal/apps/{app.slug}/test/erase/"
    token = create_developer_token(user=dana, name="CI", lifetime=timedelta(days=1))
    assert api("get", "/developer/apps").status_code == 200
    assert api("get", "/developer/apps/nothing").status_code == 404
    by_token = Client(headers={"Authorization": f"Bearer {token.text}"})
    assert by_token.get("/developer/apps").status_code == 200
    assert portal.post(path, **HTML).status_code == 302
    assert is_refused(api("get", "/developer/apps"), "rate_limited")
    assert is_refused(by_token.get("/developer/apps"), "rate_limited")
    refused = portal.post(path, **HTML)
    assert (refused.status_code, refused.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "Try again in" in text_of(refused)
    assert portal.get(f"/portal/apps/{app.slug}/", **HTML).status_code == 200
    assert sams_api("get", "/developer/apps").status_code == 200


def test_polling_of_listeners_has_a_limit_of_its_own(
    api: Api, app: App, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(rate_limits, "PERSON_REQUESTS", 1)
    monkeypatch.setattr(limits, "POLLS", 2)
    path = f"/developer/apps/{app.pk}/listener/1"
    assert api("post", f"{path}/work", {"wait": 0}).status_code == 404
    assert api("post", f"{path}/answers", {}).status_code == 404
    assert is_refused(api("post", f"{path}/work", {"wait": 0}), "rate_limited")
    assert api("get", "/developer/apps").status_code == 200


def test_deleted_app_makes_room_for_another(api: Api, dana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    assert apps.MOST_APPS == 200
    monkeypatch.setattr(apps, "MOST_APPS", 2)
    first = api("post", "/developer/apps", BODY).json()
    assert api("post", "/developer/apps", BODY | {"slug": "moons"}).status_code == 201
    refused = api("post", "/developer/apps", BODY | {"slug": "suns"})
    assert (refused.status_code, refused["X-Error-Code"]) == (409, "too_many_apps")
    page = signed_in(dana).post(
        "/portal/create/",
        {"form_token": "a form", "name": "Suns", "redirect_url": BODY["redirectUrl"]},
        **HTML,
    )
    assert (page.status_code, "A developer has at most 2 apps." in text_of(page)) == (409, True)
    assert App.objects.of(dana).count() == 2
    assert api("delete", f"/developer/apps/{first['id']}").status_code == 204
    assert api("post", "/developer/apps", BODY | {"slug": "suns"}).status_code == 201


def test_opening_of_a_busy_test_store_counts_as_seven_changes(
    api: Api, app: App, stopped_clock: None
) -> None:
    path = f"/developer/apps/{app.pk}/test-stores"
    for _ in range(8):
        record = api("post", path, {"scenario": "busy"})
        assert record.status_code == 201
        assert api("delete", f"/developer/test-stores/{record.json()['id']}").status_code == 204
    assert is_refused(api("post", path, {"scenario": "busy"}), "too_many_changes")
    assert not TestStore.objects.open().exists()


def test_sandbox_changes_are_60_a_minute_however_they_are_made(
    api: Api,
    dana: User,
    app: App,
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
    stopped_clock: None,
) -> None:
    assert limits.CHANGES == 60
    monkeypatch.setattr(limits, "CHANGES", 3)
    factories.product(installation.business, stock=12)
    path, portal = f"/developer/apps/{app.pk}", signed_in(dana)
    assert api("post", f"{path}/test-events", {"event": catalogue.SUBSCRIBABLE[0]}).status_code == 202
    assert api("post", f"{path}/test-changes", {"event": "product.created"}).status_code == 200
    assert portal.post(f"/portal/apps/{app.slug}/test/event/", {"event": "order.created"}).status_code == 302
    before = Event.objects.count()
    assert is_refused(api("post", f"{path}/test-stores", {"scenario": "empty"}), "too_many_changes")
    assert is_refused(api("post", f"{path}/test-events", {"event": "order.created"}), "too_many_changes")
    assert is_refused(api("post", f"{path}/test-changes", {"event": "order.created"}), "too_many_changes")
    for page, body in (
        ("event", {"event": "order.created"}),
        ("change", {"act": "order"}),
        ("change", {"scenario": "all"}),
        ("erase", {}),
    ):
        refused = portal.post(f"/portal/apps/{app.slug}/test/{page}/", body, **HTML)
        if refused.status_code != 400:
            assert (refused.status_code, "Retry-After" in refused) == (429, True), page
    assert Event.objects.count() == before


def test_scenario_counts_each_of_its_changes_before_the_first(
    api: Api, app: App, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CHANGES", len(SCENARIOS["all"].acts) - 1)
    refused = api("post", f"/developer/apps/{app.pk}/test-changes", {"scenario": "all"})
    assert is_refused(refused, "too_many_changes")
    assert not Event.objects.exists()


def test_developer_listens_for_three_apps_at_most(api: Api, sam: User, dana: User, sandbox: Business) -> None:
    own = [factories.app(dana, slug=f"app-{number}") for number in range(4)]
    for each in own:
        factories.installation(each, sandbox)
    paths = [f"/developer/apps/{each.pk}/listener" for each in own]
    slots = [api("post", path, {}).json()["listenerId"] for path in paths[: listeners.MOST_OF_DEVELOPER]]
    DispatcherSlot.objects.update(
        seen_at=Now() + timedelta(hours=1)
    )  # they beat, however slow this machine is
    refused = api("post", paths[3], {})
    assert (refused.status_code, refused["X-Error-Code"]) == (429, "too_many_own_listeners")
    assert "Retry-After" in refused
    replaced = api("post", paths[0], {})  # one app has one listener, so this is no fourth
    assert replaced.status_code == 201
    others = factories.app(sam)
    factories.installation(others, Business.objects.sandbox_of(sam))
    assert api_of(sam)("post", f"/developer/apps/{others.pk}/listener", {}).status_code == 201
    assert api("delete", f"{paths[1]}/{slots[1]}").status_code == 204
    assert api("post", paths[3], {}).status_code == 201
