"""Inboxes: webhooks that the engine sends to a URL of the platform itself, over HTTP."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import orjson
import pytest
import requests
from django.db import connection
from django.utils import timezone
from waitress.server import create_server

from common.ids import id_at
from config.wsgi import application
from developers.portal.webhooks import inbox as inbox_receiver
from installations.models import Installation
from installations.services import test_uninstall as uninstall_on_sandbox
from tests.ports import free_port
from tests.webhooks.helpers import drain, publish, published, webhook
from webhooks.enums import DeliveryStatus, InboxAnswer
from webhooks.models import Attempt, Delivery, Inbox, InboxEntry, Webhook
from webhooks.services import inboxes
from webhooks.services.disabling import judge_webhooks
from webhooks.services.sandbox.testing import send_test

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]


@pytest.fixture
def platform(settings: Any) -> Iterator[str]:
    """The platform on the server that the demo uses."""
    port = free_port()
    settings.DEBUG = True  # plain HTTP to this machine
    settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.BASE_URL = f"http://127.0.0.1:{port}"
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    server = create_server(application, host="127.0.0.1", port=port, threads=4)
    threading.Thread(target=server.run, daemon=True).start()
    yield settings.BASE_URL
    server.task_dispatcher.shutdown()
    server.close()
    if (
        connection.vendor == "postgresql"
    ):  # its threads leave sessions, with which the database can't be dropped
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture
def inbox(platform: str, installation: Installation) -> Inbox:
    return inboxes.open_inbox(installation=installation)


def sent_by_us(delivery: Delivery) -> dict[str, str]:
    """The headers of the entry that the delivery made."""
    headers: dict[str, str] = InboxEntry.objects.get(delivery_id=delivery.pk).headers
    return headers


@pytest.mark.spec("Contract 7 Pages", "An inbox shows webhooks that went through the queue and were signed")
def test_delivery_arrives_as_it_was_sent(inbox: Inbox, installation: Installation) -> None:
    delivery = published(installation.business)
    assert drain() == 1
    entry = inbox.entries.get()
    assert (entry.event_type, entry.delivery_id) == ("order.created", delivery.pk)
    assert orjson.loads(entry.body)["event"] == "order.created"
    assert entry.headers["X-Webhook-Signature"].startswith("sha256=")
    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.SUCCEEDED


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [("GONE", 410, "http_4xx"), ("ERROR", 500, "http_5xx"), ("CLOSED", None, "reset")],
)
def test_chosen_answer_is_given_and_the_delivery_retried(
    inbox: Inbox,
    installation: Installation,
    answer: str,
    status: int | None,
    error: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    inboxes.choose_answer(inbox=inbox, answer=answer)
    delivery = published(installation.business)
    drain()
    attempt = Attempt.objects.get()
    assert (attempt.http_status, attempt.error_class) == (status, error)
    assert [each for each in caplog.records if each.name == "django.request"] == [], (
        "chosen, and no error of ours"
    )
    delivery.refresh_from_db()
    assert delivery.status == DeliveryStatus.RETRYING
    assert inbox.entries.filter(answer=answer).exists()
    judge_webhooks()
    assert Webhook.objects.get().is_active  # one failure disables nothing


@pytest.mark.long
def test_slow_answers_are_few_at_a_time(inbox: Inbox, installation: Installation) -> None:
    """A slow answer waits as for a slow server, and one app has at most half of the places for that."""
    inboxes.choose_answer(inbox=inbox, answer=InboxAnswer.SLOW)
    for _ in range(3):
        publish(installation.business)
    with patch.object(inbox_receiver, "SLOW", 1.0):
        began = time.monotonic()
        drain()
        assert 1.0 <= time.monotonic() - began < 5
    assert sorted(Attempt.objects.values_list("http_status", flat=True)) == [200, 503, 503]


@pytest.mark.spec("Contract 7 Pages", "An inbox accepts only what the platform signed for it")
def test_nothing_else_is_taken(platform: str, inbox: Inbox, installation: Installation) -> None:
    delivery = published(installation.business)
    drain()
    headers = sent_by_us(delivery)
    body = InboxEntry.objects.get().body.encode()
    url = inboxes.url_of(inbox)
    other = webhook(installation, "https://app.example.com/", ["order.created"])
    inbox.entries.all().delete()

    def answer(target: str = url, body: bytes = body, **changes: str) -> int:
        return requests.post(target, data=body, headers=headers | changes, timeout=5).status_code

    assert answer() == 200  # the very same request
    assert answer(body=body + b" ") == 403
    assert answer(**{"X-Webhook-Signature": ""}) == 403
    assert answer(**{"X-Webhook-Timestamp": str(int(time.time()) - 301)}) == 403
    assert answer(**{"X-Webhook-Timestamp": "²"}) == 403
    assert answer(**{"X-Webhook-Id": str(other.pk)}) == 403
    assert answer(**{"X-Webhook-Id": "x"}) == 403
    assert answer(**{"X-Service-Event-Id": "x"}) == 403
    assert answer(target=url + "x") == 404
    assert answer(body=b"x" * (inboxes.MAX_BODY + 1)) == 413
    assert requests.get(url, timeout=5).status_code == 405
    assert inbox.entries.count() == 1


def test_opening_again_follows_the_scopes(inbox: Inbox, installation: Installation) -> None:
    first = Webhook.objects.get()
    app = installation.app
    app.scopes = ["read_reviews"]
    app.save()
    fresh = Installation.objects.with_app().get(pk=installation.pk)
    assert inboxes.open_inbox(installation=fresh) == inbox
    again = Webhook.objects.get()
    assert again.pk == first.pk
    assert again.events == [
        "review.created",
        "review.deleted",
        "installation.updated",
        "business.data_erasure",
        "customer.data_erasure",
    ]


def test_test_of_the_webhook_and_the_erasure_arrive_too(inbox: Inbox, installation: Installation) -> None:
    hook = Webhook.objects.select_related("installation__app").get()
    assert send_test(webhook=hook).success
    developer = installation.app.developer
    uninstall_on_sandbox(app=installation.app, developer=developer)
    Delivery.objects.filter(event__type="business.data_erasure").update(due_at=timezone.now())
    drain()
    assert set(inbox.entries.values_list("event_type", flat=True)) == {
        "webhook.test", "business.data_erasure",
    }  # fmt: skip


def test_newest_hundred_are_kept_for_seven_days(inbox: Inbox, installation: Installation) -> None:
    now = timezone.now()
    InboxEntry.objects.bulk_create(
        InboxEntry(id=id_at(now - timedelta(hours=hours)), inbox=inbox, delivery_id=inbox.pk, event_type="x")
        for hours in range(1, 105)
    )
    publish(installation.business)
    drain()
    assert inbox.entries.count() == inboxes.MOST
    assert inbox.entries.filter(event_type="order.created").count() == 1
    inboxes.remove_old(now=now + timedelta(days=7) - timedelta(hours=2, minutes=30))
    assert inbox.entries.count() == 3
