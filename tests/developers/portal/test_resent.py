"""The list of deliveries after a resend: it says what became of them, and moves by itself until that is known."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from marketplace.models import App
from tests import factories
from tests.deliveries import OK, UNAVAILABLE, delivery
from tests.pages import text_of, words_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

pytestmark = pytest.mark.django_db


@pytest.fixture
def webhook(app: App, sandbox: Business) -> Webhook:
    return helpers.webhook(
        factories.installation(app, sandbox), "https://app.example.com/", ["order.created"]
    )


@pytest.fixture
def path(app: App) -> str:
    return f"/portal/apps/{app.slug}/deliveries/"


def parts_of(page: str) -> dict[str, str]:
    """The address of each part that moves, with the version that the page shows."""
    found = re.findall(r'data-live-part="([^"]+part=(\w+))" data-version="(\w+)"', page)
    return {part: f"{address.replace('&amp;', '&')}&seen={version}" for address, part, version in found}


def end(status: DeliveryStatus, *deliveries: Delivery) -> None:
    ids = [each.pk for each in deliveries]
    Delivery.objects.filter(pk__in=ids).update(status=status, due_at=None, finished_at=timezone.now())


@pytest.mark.long
def test_list_moves_until_each_resent_delivery_is_known(browser: Client, path: str, webhook: Webhook) -> None:
    failed = [delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE) for _ in range(2)]
    body = {"reason": "503", "host": "app.example.com"}
    page = text_of(browser.post(f"{path}resend-group/", body, follow=True))
    assert "2 deliveries are being resent." in page
    parts = parts_of(page)
    assert set(parts) == {"rows", "causes"}
    assert all(browser.get(path + each).status_code == 204 for each in parts.values())
    end(DeliveryStatus.SUCCEEDED, failed[0])
    moved = {part: browser.get(path + address) for part, address in parts.items()}
    assert "1 delivered, 1 being sent." in words_of(moved["causes"])
    assert "Delivered" in words_of(moved["rows"])
    assert not any(answer.has_header("X-Live-Over") for answer in moved.values())
    end(DeliveryStatus.EXHAUSTED, failed[1])
    last = {part: browser.get(path + address) for part, address in parts.items()}
    assert "1 delivered, 1 failed again." in words_of(last["causes"])
    assert "answered 503" in words_of(last["causes"])
    assert all(answer["X-Live-Over"] == "1" for answer in last.values())


def test_list_where_nothing_is_sent_asks_for_nothing(browser: Client, path: str, webhook: Webhook) -> None:
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    assert parts_of(text_of(browser.get(path))) == {}


@pytest.mark.long
def test_parts_keep_the_filters_of_the_page(browser: Client, path: str, webhook: Webhook) -> None:
    delivery(webhook, DeliveryStatus.PENDING)
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    parts = parts_of(text_of(browser.get(f"{path}?status=PENDING")))
    rows: Any = browser.get(path + parts["rows"].rpartition("&seen=")[0])
    assert words_of(rows).count("order.created") == 1


@pytest.mark.long
def test_what_one_app_resent_is_not_said_of_another(browser: Client, path: str, webhook: Webhook) -> None:
    failed = delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE)
    assert "1 delivery is being resent." in text_of(
        browser.post(f"{path}resend/", {"delivery": str(failed.pk)}, follow=True)
    )
    other = factories.app(webhook.installation.app.developer, name="Other", slug="other")
    assert "resent" not in words_of(browser.get(f"/portal/apps/{other.slug}/deliveries/"))
