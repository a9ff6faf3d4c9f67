"""Reading and resending deliveries, as an app does."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from accounts.sign_in import tokens
from common.http import transport
from common.ids import id_at
from installations.models import Installation
from marketplace.models import App
from tests.receivers import Receiver
from tests.state import unchanged
from tests.webhooks import helpers
from webhooks.engine import recording
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.deliveries import STEP

JSON = "application/json"
URL = "https://127.0.0.1:9/hook"
NOW = datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC)
FINISHED = ("SUCCEEDED", "EXHAUSTED", "HELD", "CANCELLED")


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, URL, ["order.created"])


def delivery(webhook: Webhook, status: str = "PENDING", *, at: datetime = NOW, **fields: Any) -> Delivery:
    """As the dispatcher would leave it, made at `at`."""
    event = Event.objects.create(
        id=id_at(at),
        business=webhook.installation.business,
        type=fields.pop("event_type", "order.created"),
        data="{}",
        occurred_at=at,
    )
    waits = status in ("PENDING", "RETRYING")
    tried = 0 if status == "PENDING" else 6
    defaults = {
        "due_at": at + timedelta(hours=1) if waits else None,
        "finished_at": None if waits or status == "HELD" else at,
        "attempts_made": tried,
        "attempt_count": tried,
    }
    return Delivery.objects.create(
        id=id_at(at), event=event, webhook=webhook, status=status, created_at=at, **(defaults | fields)
    )


def path(webhook: Webhook, *rest: object) -> str:
    return "/".join(map(str, ["/webhooks", webhook.id, "deliveries", *rest]))


# Reading


@pytest.mark.spec(
    "Contract 9 Deliveries", "Deliveries on the wire; lists carry attemptCount instead of attempts"
)
def test_list_is_newest_first_with_the_number_of_attempts(api: Client, webhook: Webhook) -> None:
    first = delivery(webhook, "EXHAUSTED")
    second = delivery(webhook, "RETRYING", at=NOW + timedelta(seconds=1), attempts_made=1, attempt_count=1)
    answer = api.get(path(webhook)).json()
    assert [record["id"] for record in answer["data"]] == [str(second.id), str(first.id)]
    assert answer["data"][0] == {
        "id": str(second.id),
        "eventId": str(second.event_id),
        "event": "order.created",
        "webhookId": str(webhook.id),
        "installationId": str(webhook.installation_id),
        "status": "RETRYING",
        "createdAt": "2026-11-20T15:04:06.000Z",
        "nextAttemptAt": "2026-11-20T16:04:06.000Z",
        "attemptCount": 1,
    }
    assert answer["data"][1]["nextAttemptAt"] is None
    assert (answer["total"], answer["page"], answer["limit"]) == (2, 1, 50)


def test_list_filters_by_status_and_comes_by_pages(api: Client, webhook: Webhook) -> None:
    for second, status in enumerate(["HELD", "SUCCEEDED", "HELD", "HELD"]):
        delivery(webhook, status, at=NOW + timedelta(seconds=second))
    held = api.get(path(webhook) + "?status=HELD&limit=2&page=2").json()
    assert ([record["status"] for record in held["data"]], held["total"]) == (["HELD"], 3)
    wrong = api.get(path(webhook) + "?status=held&page=x")
    assert [problem["field"] for problem in wrong.json()["details"]] == ["page", "status"]


def test_list_holds_no_other_webhooks_deliveries(
    api: Client, webhook: Webhook, installation: Installation
) -> None:
    delivery(helpers.webhook(installation, URL, ["order.created"]))
    assert api.get(path(webhook)).json()["data"] == []


@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_the_same_statements_however_many(
    count: int, api: Client, webhook: Webhook, statements: Any
) -> None:
    for second in range(count):
        delivery(webhook, at=NOW + timedelta(seconds=second))
    with statements() as captured:
        api.get(path(webhook))
    assert len(captured) == 5  # token, webhook, ids, rows, total


@pytest.mark.spec("Contract 9 Deliveries", "One delivery carries its attempts")
def test_one_delivery_tells_its_attempts(api: Client, webhook: Webhook) -> None:
    one = delivery(webhook, "RETRYING", attempts_made=2, attempt_count=2)
    Attempt.objects.create(
        delivery=one, number=2, attempted_at=NOW + timedelta(seconds=30), http_status=503, duration_ms=12,
        error_class="http_5xx", response_excerpt="<b>Down</b>",
    )  # fmt: skip
    Attempt.objects.create(delivery=one, number=1, attempted_at=NOW, duration_ms=10_000, error_class="dns")
    record = api.get(path(webhook, one.id)).json()
    assert "attemptCount" not in record
    assert record["attempts"] == [
        {
            "number": 1,
            "attemptedAt": "2026-11-20T15:04:05.000Z",
            "httpStatus": None,
            "durationMs": 10_000,
            "errorClass": "dns",
            "responseExcerpt": None,
        },
        {
            "number": 2,
            "attemptedAt": "2026-11-20T15:04:35.000Z",
            "httpStatus": 503,
            "durationMs": 12,
            "errorClass": "http_5xx",
            "responseExcerpt": "<b>Down</b>",
        },
    ]


@pytest.mark.spec("Contract 5 Webhooks", "One delivery carries its payload text in both APIs")
def test_one_delivery_has_the_body_that_is_sent(dana: User, api: Client, webhook: Webhook, app: App) -> None:
    one = delivery(webhook, "RETRYING")
    developer = Client(headers={"Authorization": f"Bearer {tokens.issue(dana).access}"})
    for answer in (
        api.get(path(webhook, one.id)),
        developer.get(f"/developer/apps/{app.pk}/deliveries/{one.id}"),
    ):
        assert answer.json()["payload"] == (
            f'{{"event":"order.created","timestamp":"2026-11-20T15:04:05.000Z","webhookId":"{webhook.pk}",'
            f'"businessId":"{webhook.installation.business_id}","data":{{}}}}'
        )


def test_body_that_may_not_be_sent_any_more_is_not_shown(
    api: Client, webhook: Webhook, app: App, installation: Installation
) -> None:
    """It was never sent, so the app hasn't seen it."""
    sent, unsent = delivery(webhook, "RETRYING"), delivery(webhook, at=NOW + timedelta(seconds=1))
    App.objects.filter(pk=app.pk).update(scopes=["read_products"])
    assert api.get(path(webhook, sent.id)).json()["payload"]
    assert api.get(path(webhook, unsent.id)).json()["payload"] is None


@pytest.mark.spec("Errors", "404: absent, or another tenant's")
def test_delivery_of_another_webhook_is_not_found(
    api: Client, webhook: Webhook, installation: Installation, elsewhere: Installation
) -> None:
    foreign = delivery(helpers.webhook(elsewhere, URL, ["order.created"]), "EXHAUSTED")
    others = delivery(helpers.webhook(installation, URL, ["order.created"]), "EXHAUSTED")
    for delivery_id in (foreign.id, others.id, uuid4(), "nonsense"):
        for answer in (
            api.get(path(webhook, delivery_id)),
            api.post(path(webhook, delivery_id, "redeliver")),
        ):
            assert (answer.status_code, answer.json()["message"]) == (404, "Delivery not found")
    assert set(Delivery.objects.values_list("status", flat=True)) == {"EXHAUSTED"}


# Resending


@pytest.mark.spec("Contract 9 Deliveries", "A redelivery restarts the schedule under the same id")
@pytest.mark.parametrize("status", FINISHED)
def test_redelivery_of_what_is_over_begins_anew(api: Client, webhook: Webhook, status: str) -> None:
    over = delivery(webhook, status)
    with time_machine.travel(NOW, tick=False):
        answer = api.post(path(webhook, over.id, "redeliver"))
    assert answer.status_code == 202
    assert (answer.json()["id"], answer.json()["status"]) == (str(over.id), "PENDING")
    assert answer.json()["nextAttemptAt"] == "2026-11-20T15:04:05.000Z"
    fence = over.fence
    over.refresh_from_db()
    assert (over.due_at, over.finished_at, over.attempts_made, over.attempt_count) == (NOW, None, 0, 6)
    assert over.fence > fence


@pytest.mark.spec("Contract 9 Deliveries", "A PENDING or RETRYING one just becomes due now")
@pytest.mark.parametrize("status", ["PENDING", "RETRYING"])
def test_redelivery_of_what_waits_makes_it_due(api: Client, webhook: Webhook, status: str) -> None:
    waiting = delivery(webhook, status, attempts_made=3, attempt_count=9)
    with time_machine.travel(NOW, tick=False):
        assert api.post(path(webhook, waiting.id, "redeliver")).json()["status"] == status
    waiting.refresh_from_db()
    assert (waiting.due_at, waiting.attempts_made, waiting.attempt_count) == (NOW, 3, 9)


def test_redelivery_while_an_attempt_is_under_way_leaves_it_to_that(api: Client, webhook: Webhook) -> None:
    waiting = delivery(webhook, due_at=NOW)
    [claim] = helpers.claim(1, timezone.now())
    assert api.post(path(webhook, waiting.id, "redeliver")).status_code == 202
    assert helpers.claim(1, timezone.now()) == []  # not sent twice
    result = recording.AttemptResult(
        claim=claim, status=DeliveryStatus.SUCCEEDED, due_at=None, finished_at=NOW, attempted_at=NOW,
        http_status=200, duration_ms=1, error_class="", response_excerpt="",
    )  # fmt: skip
    assert recording.record([result]) == 1


@pytest.mark.spec("Contract 9 Deliveries", "On an inactive webhook a redelivery is 409")
def test_redelivery_on_an_inactive_webhook_is_409(api: Client, webhook: Webhook) -> None:
    over = delivery(webhook, "EXHAUSTED")
    Webhook.objects.update(is_active=False)
    with unchanged(Delivery, Event):
        assert api.post(path(webhook, over.id, "redeliver")).status_code == 409


def test_test_is_not_delivered_again(api: Client, webhook: Webhook) -> None:
    test = delivery(webhook, "SUCCEEDED", event_type="webhook.test")
    with unchanged(Delivery, Event):
        assert api.post(path(webhook, test.id, "redeliver")).status_code == 409


@pytest.mark.spec(
    "Webhook endpoints", "A redelivery carries the same X-Service-Event-Id; attempts are numbered on"
)
@pytest.mark.django_db(transaction=True)
def test_redelivery_goes_out_under_the_same_id(
    api: Client, installation: Installation, sandbox: Business, settings: Any
) -> None:
    settings.DEBUG = True
    with Receiver() as receiver:
        webhook = helpers.webhook(installation, receiver.url, ["order.created"])
        one = helpers.published(sandbox)
        helpers.drain()
        assert api.post(path(webhook, one.id, "redeliver")).status_code == 202
        helpers.drain()
        first, second = receiver.wait_for(2)
    transport.close()
    assert first.headers["x-service-event-id"] == second.headers["x-service-event-id"] == str(one.id)
    assert first.body == second.body
    record = api.get(path(webhook, one.id)).json()
    assert record["status"] == "SUCCEEDED"
    assert [attempt["number"] for attempt in record["attempts"]] == [1, 2]


# Recovering


def recover(api: Client, webhook: Webhook, **span: Any) -> Any:
    return api.post(f"/webhooks/{webhook.id}/recover", span, content_type=JSON)


@pytest.mark.spec(
    "Contract 5 Webhooks",
    "recover sends every EXHAUSTED or HELD delivery of the time again, and RETRYING ones at once",
)
def test_recovery_takes_what_was_given_up_or_held(api: Client, webhook: Webhook) -> None:
    rows = {
        status: delivery(webhook, status, at=NOW + timedelta(seconds=second))
        for second, status in enumerate(
            ["EXHAUSTED", "HELD", "RETRYING", "SUCCEEDED", "CANCELLED", "PENDING"]
        )
    }
    with time_machine.travel(NOW + timedelta(days=1), tick=False):
        answer = recover(api, webhook, since="2026-11-20T15:04:05Z")
        now = timezone.now()
    assert (answer.status_code, answer.json()) == (202, {"deliveries": 3})
    for row in rows.values():
        row.refresh_from_db()
    after = {status: (row.status, row.due_at) for status, row in rows.items()}
    assert after["EXHAUSTED"] == ("PENDING", now)
    assert after["HELD"] == ("PENDING", now + STEP)
    assert after["RETRYING"] == ("RETRYING", now)
    assert after["SUCCEEDED"] == ("SUCCEEDED", None)
    assert after["CANCELLED"] == ("CANCELLED", None)
    assert after["PENDING"][1] == NOW + timedelta(seconds=5, hours=1)
    assert (rows["HELD"].attempts_made, rows["HELD"].attempt_count) == (0, 6)


def test_recovery_includes_both_ends_of_the_time(api: Client, webhook: Webhook) -> None:
    moments = [NOW + timedelta(seconds=second) for second in range(4)]
    rows = [delivery(webhook, "EXHAUSTED", at=at) for at in moments]
    answer = recover(api, webhook, since="2026-11-20T15:04:06Z", until="2026-11-20T15:04:07Z")
    assert answer.json() == {"deliveries": 2}
    statuses = [Delivery.objects.get(pk=row.pk).status for row in rows]
    assert statuses == ["EXHAUSTED", "PENDING", "PENDING", "EXHAUSTED"]


def test_recovery_includes_a_delivery_by_its_time_in_the_api(api: Client, webhook: Webhook) -> None:
    row = delivery(webhook, "EXHAUSTED", at=NOW + timedelta(microseconds=123_456))
    shown = api.get(f"/webhooks/{webhook.id}/deliveries/{row.pk}").json()["createdAt"]
    assert recover(api, webhook, since=shown, until=shown).json() == {"deliveries": 1}


@pytest.mark.spec("Contract 5 Webhooks", "Recovered deliveries go out at a limited rate")
def test_recovery_is_spread_over_time_and_over_calls(api: Client, webhook: Webhook) -> None:
    for second in range(25):
        delivery(webhook, "HELD", at=NOW + timedelta(seconds=second))
    with time_machine.travel(NOW + timedelta(days=1), tick=False):
        assert recover(api, webhook, since="2026-11-20T15:04:15Z").json() == {"deliveries": 15}
        assert recover(api, webhook, since="2026-11-20T00:00:00Z").json() == {"deliveries": 10}
        assert recover(api, webhook, since="2026-11-20T00:00:00Z").json() == {"deliveries": 0}
        now = timezone.now()
    due = sorted(Delivery.objects.values_list("due_at", flat=True))
    assert due == [now + place * timedelta(milliseconds=100) for place in range(25)]


def test_recovery_leaves_tests_other_webhooks_and_attempts_under_way(
    api: Client, webhook: Webhook, installation: Installation
) -> None:
    delivery(webhook, "EXHAUSTED", event_type="webhook.test")
    delivery(helpers.webhook(installation, URL, ["order.created"]), "EXHAUSTED")
    leased = delivery(webhook, "RETRYING", lease_until=timezone.now() + timedelta(minutes=1))
    assert recover(api, webhook, since="2026-11-20T00:00:00Z").json() == {"deliveries": 0}
    due = leased.due_at
    leased.refresh_from_db()
    assert leased.due_at == due


@pytest.mark.spec("Contract 9 Deliveries", "On an inactive webhook a recovery is 409")
def test_recovery_on_an_inactive_webhook_is_409(api: Client, webhook: Webhook) -> None:
    delivery(webhook, "HELD")
    Webhook.objects.update(is_active=False, disabled_at=NOW)
    with unchanged(Delivery, Event):
        assert recover(api, webhook, since="2026-11-20T00:00:00Z").status_code == 409


@pytest.mark.parametrize(
    ("span", "field", "said"),
    [
        ({}, "since", ""),
        ({"since": None}, "since", ""),
        ({"since": "2026-11-20"}, "since", "with an offset"),
        ({"since": 5}, "since", "with an offset"),
        ({"since": "2026-11-20T15:04:05"}, "since", "with an offset"),
        ({"since": "9999-12-31T23:59:59-14:00"}, "since", "to 9999-12-31T23:59:59Z"),
        ({"since": "2026-11-20T15:04:05Z", "until": "soon"}, "until", "with an offset"),
        ({"since": "2026-11-20T15:04:05Z", "until": "2026-11-20T15:04:04Z"}, "until", ""),
    ],
)
def test_wrong_span_is_400(
    api: Client, webhook: Webhook, span: dict[str, Any], field: str, said: str
) -> None:
    answer = recover(api, webhook, **span)
    assert answer.status_code == 400
    (problem,) = answer.json()["details"]
    assert (problem["field"], said in problem["message"]) == (field, True)


@pytest.mark.django_db(transaction=True)
def test_cancelled_while_under_way_drops_the_result(api: Client, installation: Installation) -> None:
    """A dispatcher that comes back after the app switched the webhook off must not bring the delivery back."""
    webhook = helpers.webhook(installation, URL, ["order.created"])
    with transaction.atomic():
        one = delivery(webhook, due_at=NOW)
    [claim] = helpers.claim(1, timezone.now())
    api.patch(f"/webhooks/{webhook.id}", {"isActive": False}, content_type=JSON)
    retry = recording.AttemptResult(
        claim=claim, status=DeliveryStatus.RETRYING, due_at=NOW, finished_at=None, attempted_at=NOW,
        http_status=500, duration_ms=1, error_class="http_5xx", response_excerpt="",
    )  # fmt: skip
    assert recording.record([retry]) == 0
    one.refresh_from_db()
    assert (one.status, one.attempts.count()) == (DeliveryStatus.CANCELLED, 0)
