"""Adding, editing and deleting endpoints in the portal, in a browser without JavaScript."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.deliveries import REFUSED, delivery
from tests.developers.portal.paths import at
from tests.pages import unescaped
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Webhook

URL = "https://api.example.com/in"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        yield running


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, URL, ["order.created"])


@pytest.fixture
def _nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("developers.portal.webhooks.endpoints._ping", lambda request, webhook: None)


def form(url: str = URL, *events: str, **fields: str) -> dict[str, Any]:
    return {"url": url, "events": events or ("order.created",), "form_token": "a-token", **fields}


@pytest.mark.django_db(transaction=True)
def test_added_endpoint_is_tested_and_its_secret_shown_once(
    browser: Client, app: App, installation: Installation, receiver: Receiver
) -> None:
    receiver.respond_with(Answer(200, body=b"welcome"))
    added = form(receiver.url, "order.created", "product.created", description="Till")
    response = browser.post(at(app, "new/"), added)

    webhook = Webhook.objects.get()
    page = unescaped(response)
    assert (webhook.installation_id, webhook.url) == (installation.pk, receiver.url)
    assert (webhook.events, webhook.description) == (["order.created", "product.created"], "Till")
    assert webhook.secret in page
    assert "no-store" in response["Cache-Control"]
    assert "It works: your endpoint returned 200, after" in page
    assert "welcome" in page
    (request,) = receiver.requests
    assert b'"event":"webhook.test"' in request.body.replace(b": ", b":")
    assert helpers.is_signed(request, webhook.secret)

    again = unescaped(browser.post(at(app, "new/"), added, follow=True), 200)
    assert "This endpoint was added before" in again
    assert webhook.secret not in again
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": ""}, "Enter the URL to send events to."),
        ({"url": "https://10.0.0.8/in"}, "10.0.0.8"),
        ({"url": "https://user@api.example.com/in"}, "user name"),
        ({"events": []}, "Choose at least one event."),
        ({"events": ["webhook.test"]}, "Select a valid choice"),
    ],
)
def test_form_refuses_what_the_api_refuses(
    browser: Client, app: App, installation: Installation, given: dict[str, Any], message: str
) -> None:
    page = unescaped(browser.post(at(app, "new/"), form() | given), 422)
    assert message in page
    assert "There is a problem" in page
    assert not Webhook.objects.exists()


@pytest.mark.usefixtures("_nothing_is_sent")
def test_twenty_first_endpoint_is_refused_and_may_be_sent_again(
    browser: Client, app: App, installation: Installation
) -> None:
    for number in range(20):
        helpers.webhook(installation, f"https://{number}.example.com/", ["order.created"])
    assert "at most 20 webhooks" in unescaped(browser.post(at(app, "new/"), form()), 409)
    Webhook.objects.first().delete()  # type: ignore[union-attr]
    assert "The endpoint was added" in unescaped(browser.post(at(app, "new/"), form()))


def test_events_without_their_scope_are_locked_and_have_examples(
    browser: Client, app: App, installation: Installation
) -> None:
    App.objects.update(scopes=["read_orders"])
    page = unescaped(browser.get(at(app, "new/")))
    assert "Locked: the install lacks the scope read_products" in page
    assert 'value="product.created" disabled' in re.sub(r' id="id_events_\d+"', "", page)
    assert 'value="order.created" disabled' not in page
    assert '"event": "order.created"' in page
    assert "add their scopes to the app" in page


@pytest.mark.usefixtures("_nothing_is_sent")
def test_endpoint_keeps_an_event_whose_scope_it_lost(
    browser: Client, app: App, installation: Installation
) -> None:
    webhook = helpers.webhook(installation, URL, ["product.created", "order.created"])
    App.objects.update(scopes=["read_orders"])
    page = unescaped(browser.get(at(app, f"{webhook.pk}/edit/")))
    assert 'value="product.created" checked' in re.sub(r' id="id_events_\d+"', "", page)
    browser.post(at(app, f"{webhook.pk}/edit/"), form(URL, "order.created", "product.created"))
    webhook.refresh_from_db()
    assert set(webhook.events) == {"product.created", "order.created"}


@pytest.mark.django_db(transaction=True)
def test_edit_changes_the_endpoint_and_tests_it(
    browser: Client, app: App, webhook: Webhook, receiver: Receiver
) -> None:
    receiver.respond_with(503)
    changed = form(receiver.url, "review.created", description="New server")
    page = unescaped(browser.post(at(app, f"{webhook.pk}/edit/"), changed, follow=True))
    webhook.refresh_from_db()
    assert (webhook.url, webhook.events, webhook.description) == (
        receiver.url,
        ["review.created"],
        "New server",
    )
    assert "Failed: your endpoint returned 503" in page


@pytest.mark.long
@pytest.mark.usefixtures("_nothing_is_sent")
def test_app_defined_endpoint_keeps_its_url_and_follows_the_app_until_its_events_change(
    browser: Client, app: App, installation: Installation
) -> None:
    App.objects.update(webhook_events=["order.created", "review.created"], webhook_url=URL)
    webhook = helpers.webhook(installation, URL, [], is_app_defined=True)
    edit = at(app, f"{webhook.pk}/edit/")
    assert "This is the app's Webhook URL" in unescaped(browser.get(edit))

    browser.post(edit, form("https://other.example.com/", "review.created", "order.created", description="A"))
    webhook.refresh_from_db()
    assert (webhook.url, webhook.events, webhook.description) == (URL, [], "A")
    browser.post(edit, form("", "review.created"))
    webhook.refresh_from_db()
    assert webhook.events == ["review.created"]
    assert browser.post(at(app, f"{webhook.pk}/delete/")).status_code == 404


@pytest.mark.long
def test_delete_says_what_is_lost(browser: Client, app: App, webhook: Webhook, monkeypatch: Any) -> None:
    delivery(webhook, DeliveryStatus.RETRYING, REFUSED)
    page = unescaped(browser.get(at(app, f"{webhook.pk}/delete/")))
    assert "1 waiting or held delivery won't be sent" in page
    monkeypatch.setattr("developers.portal.deliveries.log.MAX_COUNTED", 2)
    for status, said in ((DeliveryStatus.HELD, "2 waiting"), (DeliveryStatus.PENDING, "More than 2 waiting")):
        delivery(webhook, status)
        page = unescaped(browser.get(at(app, f"{webhook.pk}/delete/")))
        assert f"<li>{said} or held deliveries won't be sent" in page
    assert "was deleted" in unescaped(browser.post(at(app, f"{webhook.pk}/delete/"), follow=True))
    webhook.refresh_from_db()
    assert webhook.deleted_at
    assert browser.get(at(app, f"{webhook.pk}/edit/")).status_code == 404


@pytest.mark.long
@pytest.mark.usefixtures("_nothing_is_sent")
def test_second_endpoint_for_the_same_event_and_url_is_warned_of(
    browser: Client, app: App, webhook: Webhook
) -> None:
    assert "send the same events" not in unescaped(browser.get(at(app)))
    added = unescaped(browser.post(at(app, "new/"), form(URL, "order.created", "review.created")))
    for page in (added, unescaped(browser.get(at(app)))):
        assert "Two endpoints send the same events to one URL" in page
        assert "receives order.created twice." in page
    Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
    assert "send the same events" not in unescaped(browser.get(at(app)))


@pytest.mark.long
def test_endpoints_of_production_stores_are_read_only(
    browser: Client, app: App, installation: Installation, shop: Business
) -> None:
    factories.approve(app)
    webhook = helpers.webhook(factories.installation(app, shop), URL, ["order.created"])
    assert f"{webhook.pk}/edit/" not in unescaped(browser.get(at(app)))
    for act in ("edit", "delete"):
        assert browser.post(at(app, f"{webhook.pk}/{act}/"), form()).status_code == 404
    webhook.refresh_from_db()
    assert webhook.deleted_at is None


def test_form_without_an_install_leads_to_the_list(browser: Client, app: App) -> None:
    response: Any = browser.get(at(app, "new/"))
    assert response["Location"] == at(app)
