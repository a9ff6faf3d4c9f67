"""The list of deliveries after a resend: it says what became of them, and moves by itself until that is known."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

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


def moving(page: str) -> str:
    """The address of what moves, with the version that the page shows; empty if nothing does."""
    found = re.findall(r'data-live-url="([^"]+part=live)" data-version="(\w+)"', page)
    return "".join(f"{address.replace('&amp;', '&')}&seen={version}" for address, version in found)


def parts_of(response: Any) -> dict[str, str]:
    """The words of each part of an answer."""
    found = re.findall(r'<template data-live-part="(\w+)">(.*?)</template>', text_of(response), re.DOTALL)
    return {name: " ".join(strip_tags(html).split()) for name, html in found}


def end(status: DeliveryStatus, *deliveries: Delivery) -> None:
    ids = [each.pk for each in deliveries]
    Delivery.objects.filter(pk__in=ids).update(status=status, due_at=None, finished_at=timezone.now())


@pytest.mark.long
def test_list_moves_until_each_resent_delivery_is_known(browser: Client, path: str, webhook: Webhook) -> None:
    failed = [delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE) for _ in range(2)]
    body = {"reason": "503", "host": "app.example.com"}
    page = text_of(browser.post(f"{path}resend-group/", body, follow=True))
    assert "2 deliveries are being resent." in page
    address = moving(page)
    assert browser.get(path + address).status_code == 204
    end(DeliveryStatus.SUCCEEDED, failed[0])
    moved = browser.get(path + address)
    assert set(parts_of(moved)) == {"rows", "causes"}
    assert "1 delivered, 1 being sent." in parts_of(moved)["causes"]
    assert "Delivered" in parts_of(moved)["rows"]
    assert not moved.has_header("X-Live-Over")
    end(DeliveryStatus.EXHAUSTED, failed[1])
    last = browser.get(path + address)
    assert "1 delivered, 1 failed again." in parts_of(last)["causes"]
    assert "returned 503" in parts_of(last)["causes"]
    assert last["X-Live-Over"] == "1"


def test_resent_delivery_that_was_retrying_is_waited_for_until_its_next_attempt(
    browser: Client, path: str, webhook: Webhook
) -> None:
    waiting = delivery(webhook, DeliveryStatus.RETRYING, UNAVAILABLE)
    sent = browser.post(f"{path}resend/", {"delivery": str(waiting.pk)}, follow=True)
    assert "1 delivery is being resent." in text_of(sent)
    assert "1 being sent." in text_of(sent)
    address = moving(text_of(sent))
    later = timezone.now() + timedelta(hours=1)
    Delivery.objects.filter(pk=waiting.pk).update(attempt_count=F("attempt_count") + 1, due_at=later)
    failed = browser.get(path + address)
    assert "1 delivery resent at" in parts_of(failed)["causes"]
    assert "1 retrying." in parts_of(failed)["causes"]
    assert failed["X-Live-Over"] == "1"
    Delivery.objects.filter(pk=waiting.pk).update(due_at=timezone.now() + timedelta(seconds=30))
    assert not browser.get(path + address).has_header("X-Live-Over")  # the next attempt is near


def test_list_where_nothing_is_sent_asks_for_nothing(browser: Client, path: str, webhook: Webhook) -> None:
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    assert moving(text_of(browser.get(path))) == ""


@pytest.mark.long
def test_parts_keep_the_filters_of_the_page(browser: Client, path: str, webhook: Webhook) -> None:
    delivery(webhook, DeliveryStatus.PENDING)
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    address = moving(text_of(browser.get(f"{path}?status=PENDING")))
    shown = parts_of(browser.get(path + address.rpartition("&seen=")[0]))
    assert shown["rows"].count("order.created") == 1


@pytest.mark.long
def test_what_one_app_resent_is_not_said_of_another(browser: Client, path: str, webhook: Webhook) -> None:
    failed = delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE)
    assert "1 delivery is being resent." in text_of(
        browser.post(f"{path}resend/", {"delivery": str(failed.pk)}, follow=True)
    )
    other = factories.app(webhook.installation.app.developer, name="Other", slug="other")
    assert "resent" not in words_of(browser.get(f"/portal/apps/{other.slug}/deliveries/"))
