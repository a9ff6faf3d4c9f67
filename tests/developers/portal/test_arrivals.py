"""The page "Why did nothing arrive?". Its reasons are tested in tests/webhooks/test_explaining.py."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from developers.portal.deliveries.arrivals import act_of, explained
from installations.models import Installation
from marketplace.models import App
from tests.deliveries import OK, delivery
from tests.pages import text_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.services.explaining import Cause, Reason


def at(app: App, query: str = "") -> str:
    return f"/portal/apps/{app.slug}/deliveries/why/{query}"


def test_page_asks_first_and_then_explains(browser: Client, app: App, installation: Installation) -> None:
    assert "Choose what you expected" in text_of(browser.get(at(app)))
    nothing = text_of(browser.get(at(app, "?event=order.created")))
    assert ("Nothing happened" in nothing, "Send test event" in nothing) == (True, True)
    first = helpers.webhook(installation, "https://api.example.com/in", ["order.created"])
    helpers.webhook(installation, "https://api.example.com/two", ["review.created"])
    made = delivery(first, DeliveryStatus.SUCCEEDED, OK)
    response: Any = browser.get(at(app, f"?event=order.created&at={timezone.now():%Y-%m-%dT%H:%M}"))
    page = text_of(response)
    assert "Your endpoint returned 2xx." in page
    assert f"/deliveries/{made.pk}/" in page
    assert "doesn&#x27;t list order.created" in page or "doesn't list order.created" in page


@pytest.mark.spec("Contract 19 Filters", "Why didn't it arrive? names the condition as field op value")
def test_page_names_the_condition_of_a_filter(browser: Client, app: App, installation: Installation) -> None:
    large = '{"all":[{"field":"amount","op":"gte","value":100}]}'
    App.objects.update(webhook_filter=large)
    helpers.webhook(installation, "https://api.example.com/in", ["order.created"], filter=large)
    helpers.webhook(installation, "https://api.example.com/app", [], is_app_defined=True)
    helpers.publish(installation.business)
    page = text_of(browser.get(at(app, f"?event=order.created&at={timezone.now():%Y-%m-%dT%H:%M}")))
    assert page.count("filter asks for amount gte 100") == 2


def test_page_refuses_what_it_does_not_offer(
    browser: Client, app: App, installation: Installation, shop: Business
) -> None:
    for query in ("?event=lost", f"?store={shop.pk}", "?at=yesterday", "?event=business.data_erasure"):
        response = browser.get(at(app, query))
        assert response.status_code == 422, query
        assert "There is a problem" in text_of(response)


def test_page_of_an_app_that_no_store_has(browser: Client, app: App) -> None:
    assert "No store has the app" in text_of(browser.get(at(app, "?event=order.created")))


@pytest.mark.parametrize("cause", list(Cause))
def test_button_is_that_of_the_cause(app: App, installation: Installation, cause: Cause) -> None:
    """In the sandbox of the person. The page of another store offers to look at a delivery only."""
    expected = {
        Cause.NO_WEBHOOK: "Add endpoint",
        Cause.SCOPE_MISSING: "Edit scopes",
        Cause.SCOPE_GRANTED_LATER: "Edit scopes",
        Cause.NOTHING_HAPPENED: "Send test event",
    }
    act = act_of(Reason(cause), app, is_own=True)
    assert (act and act.label) == expected.get(cause)
    webhook = helpers.webhook(installation, "https://api.example.com/in", ["order.created"])
    of_webhook = act_of(Reason(cause, webhook=webhook), app, is_own=True)
    added_later = cause == Cause.REGISTERED_LATER
    assert (of_webhook and of_webhook.label) == (None if added_later else "Edit endpoint")
    assert act_of(Reason(cause, webhook=webhook), app, is_own=False) is None
    made = delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    seen = act_of(Reason(cause, webhook=webhook, delivery=made), app, is_own=False)
    assert seen is not None
    assert seen.url.endswith(f"/deliveries/{made.pk}/")


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_has_a_sentence(cause: Cause) -> None:
    sentence = explained(Reason(cause), "order.created").sentence
    assert sentence.endswith(".")
    assert "{" not in sentence
