"""The test store: every event by a real change, scenarios, the inbox's pages, and an erasure without waiting."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from common.errors import Conflict
from installations.models import Installation
from installations.services import test_uninstall as uninstall_on_sandbox
from installations.services.lifecycle import uninstall
from marketplace.models import App
from stores.services import sandbox_changes
from tests import factories
from tests.pages import text_of
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, webhook
from webhooks import catalogue
from webhooks.enums import ErasureState
from webhooks.models import Delivery, Erasure, Event, Inbox
from webhooks.services import erasure as erasures
from webhooks.services import inboxes
from webhooks.services.sandbox.changes import CHANGES, SCENARIOS
from webhooks.services.sandbox.samples import NEVER

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def listening(installation: Installation, receiver: Receiver, settings: Any) -> Installation:
    """Dana's app on her sandbox store, with a webhook for everything."""
    settings.DEBUG = True
    factories.product(installation.business, stock=12, name="Rye bread")
    webhook(installation, receiver.url, list(catalogue.SUBSCRIBABLE))
    return installation


def change(browser: Client, app: App, **data: str) -> str:
    response = browser.post(f"/portal/apps/{app.slug}/test/change/", data, follow=True)
    assert response.status_code == 200
    return text_of(response)


def test_every_event_has_an_act() -> None:
    caused = {event for act in CHANGES.values() for event in act.events}
    assert caused == set(catalogue.EVENTS) - set(NEVER)
    assert set(SCENARIOS["all"].acts) == set(CHANGES)


@pytest.mark.long
@pytest.mark.spec("Events", "Every event can be caused by a real change on the sandbox store")
@pytest.mark.parametrize("key", CHANGES)
def test_act_causes_its_events(
    browser: Client, app: App, listening: Installation, receiver: Receiver, key: str
) -> None:
    page = change(browser, app, act=key)
    for event in CHANGES[key].events:
        assert event in page
    assert "Pending" in page
    assert "Not sent" not in page
    drain()
    arrived = {request.headers["x-webhook-event"] for request in receiver.requests}
    assert set(CHANGES[key].events) <= arrived
    assert "Delivered" in text_of(browser.get(f"/portal/apps/{app.slug}/test/"))


@pytest.mark.long
def test_scenario_reports_each_step(browser: Client, app: App, listening: Installation) -> None:
    page = change(browser, app, scenario="day")
    report = page[page.index('class="card run-report"') : page.index("</ol>", page.index('class="steps"'))]
    assert report.count('class="step-title"') == len(SCENARIOS["day"].acts)
    assert "Not sent" not in report
    for event in ("order.created", "order.delivered", "review.created", "product.low_stock"):
        assert event in report


@pytest.mark.long
def test_report_says_why_nothing_was_sent(browser: Client, app: App, installation: Installation) -> None:
    App.objects.update(scopes=["read_orders"])
    assert "none of the app&#x27;s webhooks listens to it" in change(browser, app, act="order")
    assert "the app lacks read_reviews" in change(browser, app, act="add_review")


def test_changes_need_an_install_and_a_known_name(browser: Client, app: App, sandbox: Business) -> None:
    assert "Install the app on your sandbox store first" in change(browser, app, act="order")
    factories.installation(app, sandbox)
    path = f"/portal/apps/{app.slug}/test/change/"
    assert browser.post(path, {"act": "fly"}).status_code == 400
    assert browser.get(path).status_code == 405
    assert not Event.objects.exists()


def test_changes_are_for_sandboxes(mira: User) -> None:
    shop = Business.objects.get(owner=mira)
    with pytest.raises(Conflict, match="sandbox stores only"):
        sandbox_changes.order(shop)


@pytest.mark.long
def test_effects_are_sent_again_only_when_they_changed(
    browser: Client, app: App, listening: Installation
) -> None:
    page = change(browser, app, act="order")
    version = re.findall(r'data-version="(\w+)"', page)[0]
    path = f"/portal/apps/{app.slug}/test/effects/?seen={version}"
    assert browser.get(path).status_code == 204
    drain()
    again = browser.get(path)
    assert again.status_code == 200
    assert "Delivered" in text_of(again)
    assert again["X-Live-Version"] != version


# --- The inbox's page -------------------------------------------------------------------------------


@pytest.fixture
def local(settings: Any) -> None:
    settings.DEBUG, settings.BASE_URL = True, "http://127.0.0.1:8000"
    settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.mark.long
def test_inbox_is_made_by_one_press(
    browser: Client, app: App, installation: Installation, local: None
) -> None:
    path = f"/portal/apps/{app.slug}/inbox/"
    assert "Receive webhooks here" in text_of(browser.get(path))
    page = text_of(browser.post(path, {"action": "open"}, follow=True))
    inbox = Inbox.objects.get()
    assert inboxes.url_of(inbox) in page
    assert "isn&#x27;t registered for them" not in page
    App.objects.update(scopes=["read_reviews"])
    assert "review.created" not in text_of(browser.get(path))
    App.objects.update(scopes=["read_reviews", "read_pages", "read_products", "read_orders"])
    browser.post(path, {"action": "answer", "answer": "ERROR"})
    inbox.refresh_from_db()
    assert inbox.answer == "ERROR"
    assert browser.post(path, {"action": "answer", "answer": "SING"}).status_code == 422


@pytest.mark.long
def test_inbox_follows_a_new_install(browser: Client, app: App, dana: User, local: None) -> None:
    path = f"/portal/apps/{app.slug}/test/"
    browser.post(path, {"form_token": "one"})
    browser.post(f"/portal/apps/{app.slug}/inbox/", {"action": "open"})
    uninstall_on_sandbox(app=app, developer=dana)
    browser.post(path, {"form_token": "two"})
    inbox, installation = Inbox.objects.get(), Installation.objects.active().get()
    found = inboxes.webhook_of_inbox(inbox, installation)
    assert found
    assert found.is_active


# --- Erasure ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Events", "A developer tries the data erasure of a test install without waiting 48 hours")
def test_erasure_of_a_test_install_is_sent_now(
    browser: Client, app: App, listening: Installation, receiver: Receiver
) -> None:
    page = change(browser, app, act="order")
    browser.post(f"/portal/apps/{app.slug}/test/uninstall/")
    assert "Erase now" in text_of(browser.get(f"/portal/apps/{app.slug}/test/"))
    drain()
    assert "business.data_erasure" not in str(receiver.requests)
    page = text_of(browser.post(f"/portal/apps/{app.slug}/test/erase/", follow=True))
    assert "is being sent" in page
    drain()
    assert receiver.requests[-1].headers["x-webhook-event"] == "business.data_erasure"
    erasures.update_states()
    assert Erasure.objects.get().state == ErasureState.CONFIRMED
    assert "Erase now" not in text_of(browser.get(f"/portal/apps/{app.slug}/test/"))
    assert "No data erasure" in text_of(browser.post(f"/portal/apps/{app.slug}/test/erase/", follow=True))


@pytest.mark.parametrize("kept", ["another developer's sandbox", "merchant"])
def test_erasure_elsewhere_keeps_its_time(
    dana: User, sam: User, app: App, installation: Installation, kept: str
) -> None:
    if kept == "merchant":
        Business.objects.filter(pk=installation.business_id).update(is_sandbox=False)
        Installation.objects.update(is_own=False)
    else:
        Installation.objects.update(business=Business.objects.sandbox_of(sam), is_own=False)
    fresh = Installation.objects.with_app().get()
    uninstall(installation=fresh, by=dana)
    waiting = Erasure.objects.get()
    due = Delivery.objects.values_list("due_at", flat=True).get()
    with pytest.raises(Conflict, match="your own sandbox store"):
        erasures.bring_forward(erasure=waiting)
    assert Delivery.objects.values_list("due_at", flat=True).get() == due
