"""Automatic disabling, and telling the developer (contract section 5)."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from accounts.models import Business
from accounts.services.sender import send_due
from common.ids import id_at
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.webhooks import helpers
from webhooks import health
from webhooks.engine import recording
from webhooks.enums import DeliveryStatus, Stage
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.deliveries import redeliver
from webhooks.services.disabling import disable, judge_webhooks, suspects
from webhooks.services.notifications import notify_developers
from webhooks.services.registration import change_webhook
from webhooks.tasks import judge_webhooks as task

URL = "https://127.0.0.1:9/hook"
START = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, URL, ["order.created"], created_at=START)


def attempted(
    webhook: Webhook,
    *answers: int | None,
    at: datetime = START,
    every: timedelta = timedelta(0),
    event: str = "order.created",
) -> Delivery:
    """A delivery with an attempt for each answer: a status, or None for no answer. Six failures exhaust it."""
    made = Event.objects.create(
        business=webhook.installation.business, type=event, data="{}", occurred_at=at, id=id_at(at)
    )
    last = at + every * (len(answers) - 1)
    succeeded = answers[-1] == 200
    over = succeeded or len(answers) == 6 or event == "webhook.test"
    delivery = Delivery.objects.create(
        event=made,
        webhook=webhook,
        status="SUCCEEDED" if succeeded else "EXHAUSTED" if over else "RETRYING",
        due_at=None if over else last + HOUR,
        attempts_made=len(answers),
        attempt_count=len(answers),
        created_at=at,
        finished_at=last if over else None,
    )
    for index, status in enumerate(answers):
        Attempt.objects.create(
            delivery=delivery, number=index + 1, attempted_at=at + every * index, http_status=status,
            duration_ms=5, error_class="" if status == 200 else f"http_{status // 100}xx" if status else "refused",
        )  # fmt: skip
    return delivery


def fail_badly(webhook: Webhook, at: datetime = START, deliveries: int = 4) -> None:
    """24 failed attempts and four deliveries given up, all within the hour."""
    for number in range(deliveries):
        attempted(webhook, *[500] * 6, at=at + timedelta(minutes=number), every=timedelta(minutes=5))


def judge(webhook: Webhook, at: datetime) -> Webhook:
    judge_webhooks(now=at)
    webhook.refresh_from_db()
    return webhook


# No success for 72 hours


@pytest.mark.spec(
    "Contract 5 Webhooks",
    "No success for 72 hours with at least 3 exhausted deliveries and 20 failed attempts disables",
)
def test_failing_for_72_hours_disables(webhook: Webhook) -> None:
    fail_badly(webhook)
    judged = judge(webhook, START + 71 * HOUR)
    assert (judged.is_active, judged.failing_since, judged.disabled_at) == (True, START, None)
    judged = judge(webhook, START + 72 * HOUR)
    assert (judged.is_active, judged.disabled_at) == (False, START + 72 * HOUR)
    assert judged.disabled_reason == health.FAILED


def test_three_exhausted_deliveries_with_19_failed_attempts_do_not_disable(webhook: Webhook) -> None:
    fail_badly(webhook, deliveries=3)
    attempted(webhook, None, at=START + HOUR)
    judged = judge(webhook, START + 72 * HOUR)
    assert (judged.is_active, judged.failing_since) == (True, START)
    attempted(webhook, None, at=START + 72 * HOUR)
    assert not judge(webhook, START + 73 * HOUR).is_active


def test_25_failed_attempts_with_two_exhausted_deliveries_do_not_disable(webhook: Webhook) -> None:
    fail_badly(webhook, deliveries=2)
    for answers in ([500] * 5, [500] * 5, [500] * 3):
        attempted(webhook, *answers, at=START + HOUR)
    judged = judge(webhook, START + 72 * HOUR)
    assert (judged.is_active, judged.failing_since) == (True, START)
    attempted(webhook, *[500] * 6, at=START + 72 * HOUR)
    assert not judge(webhook, START + 73 * HOUR).is_active


def test_success_ends_the_failing(webhook: Webhook) -> None:
    fail_badly(webhook)
    assert judge(webhook, START + 25 * HOUR).failing_since == START
    attempted(webhook, 200, at=START + 30 * HOUR)
    judged = judge(webhook, START + 80 * HOUR)
    assert (judged.is_active, judged.failing_since) == (True, None)


def test_healthy_webhook_that_once_gave_up_is_not_looked_at_again(webhook: Webhook) -> None:
    fail_badly(webhook)
    assert suspects(START + 2 * HOUR).get() == webhook
    attempted(webhook, 200, at=START + 3 * HOUR)
    assert not suspects(START + 4 * HOUR).exists()


def test_failing_begins_with_the_first_failure_after_the_last_success(webhook: Webhook) -> None:
    attempted(webhook, 200, at=START - 500 * HOUR)
    attempted(webhook, 500, 500, 200, at=START - 400 * HOUR, every=HOUR)
    fail_badly(webhook)
    judged = judge(webhook, START + HOUR)
    assert (judged.is_active, judged.failing_since) == (True, START)


@pytest.mark.spec("Contract 5 Webhooks", "The test call changes nothing about a webhook")
def test_tests_do_not_count(webhook: Webhook) -> None:
    for minute in range(30):
        attempted(webhook, 410, at=START + timedelta(minutes=minute), event="webhook.test")
    assert judge(webhook, START + HOUR).failing_since is None
    fail_badly(webhook)
    attempted(webhook, 200, at=START + 50 * HOUR, event="webhook.test")
    assert not judge(webhook, START + 72 * HOUR).is_active


def test_success_that_is_sent_again_and_fails_stays_known(webhook: Webhook) -> None:
    fail_badly(webhook, deliveries=3)
    success = attempted(webhook, 200, at=START + 10 * HOUR)
    redeliver(delivery=success, now=START + 20 * HOUR)
    Delivery.objects.filter(pk=success.pk).update(status="RETRYING")
    Attempt.objects.create(
        delivery=success, number=2, attempted_at=START + 20 * HOUR, http_status=500, duration_ms=1
    )
    assert judge(webhook, START + 21 * HOUR).failing_since == START + 20 * HOUR


# 410


@pytest.mark.spec("Contract 5 Webhooks", "410 on two attempts at least 10 minutes apart disables")
@pytest.mark.parametrize(
    ("apart", "active"), [(timedelta(minutes=10), False), (timedelta(seconds=599), True)]
)
def test_gone_twice_disables(webhook: Webhook, apart: timedelta, active: bool) -> None:
    attempted(webhook, 410, 410, every=apart)
    judged = judge(webhook, START + HOUR)
    assert judged.is_active == active
    assert judged.disabled_reason == ("" if active else health.GONE)


def test_gone_of_two_deliveries_counts(webhook: Webhook, installation: Installation) -> None:
    other = helpers.webhook(installation, URL, ["order.created"])
    attempted(webhook, 410)
    attempted(webhook, 500, 410, at=START + timedelta(minutes=5), every=timedelta(minutes=10))
    attempted(other, 410)
    assert not judge(webhook, START + HOUR).is_active
    other.refresh_from_db()
    assert other.is_active


def test_gone_before_and_after_a_success_does_not_count(webhook: Webhook) -> None:
    attempted(webhook, 410, 200, at=START, every=timedelta(minutes=5))
    attempted(webhook, 410, at=START + timedelta(minutes=20))
    assert judge(webhook, START + HOUR).is_active


# What disabled means


@pytest.mark.spec("Contract 5 Webhooks", "Disabled: new and waiting deliveries are held, never thrown away")
def test_disabled_holds_what_waits_and_what_is_new(webhook: Webhook, sandbox: Business) -> None:
    waiting = helpers.published(sandbox)
    retrying = attempted(webhook, 410, 410, every=timedelta(minutes=10))
    judge(webhook, START + HOUR)
    for delivery in (waiting, retrying, helpers.published(sandbox)):
        delivery.refresh_from_db()
        assert (delivery.status, delivery.due_at, delivery.lease_until) == (DeliveryStatus.HELD, None, None)
    assert helpers.drain() == 0


def test_disabled_ignores_the_erasure(webhook: Webhook, sandbox: Business) -> None:
    Webhook.objects.update(events=["order.created", "business.data_erasure"])
    erasure = helpers.published(sandbox, "business.data_erasure")
    attempted(webhook, 410, 410, every=timedelta(minutes=10))
    assert not judge(webhook, START + HOUR).is_active
    erasure.refresh_from_db()
    assert erasure.status == DeliveryStatus.PENDING


@pytest.mark.django_db(transaction=True)
def test_delivery_that_was_published_during_the_disabling_is_held_too(
    installation: Installation, sandbox: Business
) -> None:
    webhook = helpers.webhook(installation, URL, ["order.created"])
    late = helpers.published(sandbox)
    Webhook.objects.filter(pk=webhook.pk).update(is_active=False, disabled_at=START)
    assert helpers.drain() == 0
    late.refresh_from_db()
    assert (late.status, late.due_at) == (DeliveryStatus.HELD, None)


def test_disabling_while_an_attempt_is_under_way_drops_its_result(
    webhook: Webhook, sandbox: Business
) -> None:
    under_way = helpers.published(sandbox)
    [claim] = helpers.claim(1, under_way.created_at)
    attempted(webhook, 410, 410, every=timedelta(minutes=10))
    judge(webhook, START + HOUR)
    retry = recording.AttemptResult(
        claim=claim, status=DeliveryStatus.RETRYING, due_at=START, finished_at=None, attempted_at=START,
        http_status=410, duration_ms=1, error_class="http_4xx", response_excerpt="",
    )  # fmt: skip
    assert recording.record([retry]) == 0
    under_way.refresh_from_db()
    assert under_way.status == DeliveryStatus.HELD


def test_judging_again_changes_nothing(webhook: Webhook) -> None:
    attempted(webhook, 410, 410, every=timedelta(minutes=10))
    assert judge_webhooks(now=START + HOUR) == 1
    assert judge_webhooks(now=START + 2 * HOUR) == 0
    webhook.refresh_from_db()
    assert webhook.disabled_at == START + HOUR


def test_judgement_that_was_overtaken_disables_nothing(webhook: Webhook) -> None:
    fail_badly(webhook)
    stale = judge(webhook, START + HOUR)
    change_webhook(webhook=webhook, changes={"url": URL + "/new"}, now=START + 72 * HOUR)
    stale.failing_since = START
    assert not disable(webhook=stale, reason=health.FAILED, now=START + 72 * HOUR)
    webhook.refresh_from_db()
    assert webhook.is_active


@pytest.mark.parametrize("change", [{"url": URL + "/new"}, {"is_active": True}])
def test_new_url_or_new_start_is_judged_afresh(webhook: Webhook, change: dict[str, Any]) -> None:
    fail_badly(webhook)
    if "is_active" in change:
        judge(webhook, START + 72 * HOUR)
    change_webhook(webhook=webhook, changes=change, now=START + 73 * HOUR)
    judged = judge(webhook, START + 74 * HOUR)
    assert (judged.is_active, judged.failing_since) == (True, None)
    attempted(webhook, 500, at=START + 75 * HOUR)
    assert judge(webhook, START + 76 * HOUR).failing_since == START + 75 * HOUR


def test_switched_off_or_ended_ones_are_not_judged(webhook: Webhook, installation: Installation) -> None:
    fail_badly(webhook)
    Webhook.objects.update(is_active=False)
    assert judge_webhooks(now=START + 80 * HOUR) == 0
    Webhook.objects.update(is_active=True)
    Installation.objects.update(uninstalled_at=START)
    assert judge_webhooks(now=START + 80 * HOUR) == 0


@pytest.mark.long
def test_what_failed_leads_to_the_same_as_a_look_at_each_webhook(installation: Installation) -> None:
    """Over random histories of 30 webhooks, judged after each day."""
    dice = random.Random(7)
    webhooks = [helpers.webhook(installation, f"{URL}/{number}", ["order.created"]) for number in range(30)]
    answers: list[list[int | None]] = [[200], [500], [500, 200], [500] * 6, [None] * 6]
    expected: dict[Any, datetime | None] = dict.fromkeys((webhook.pk for webhook in webhooks), None)
    seen: set[datetime | None] = set()
    for day in range(1, 7):
        for webhook in dice.sample(webhooks, 20):
            kind = dice.choice(["order.created"] * 4 + ["webhook.test"])
            at = START + (24 * day - dice.randrange(1, 24)) * HOUR
            attempted(
                webhook, *dice.choice(answers), at=at, every=dice.randrange(60) * HOUR / 600, event=kind
            )
        at = START + 24 * day * HOUR
        for retried in Delivery.objects.filter(status="RETRYING"):
            if dice.random() < 0.4:
                Delivery.objects.filter(pk=retried.pk).update(status="SUCCEEDED", finished_at=at, due_at=None)
        reset = dice.choice(webhooks)
        Webhook.objects.filter(pk=reset.pk).update(judged_from=at - 5 * HOUR, failing_since=None)
        expected[reset.pk] = None
        for webhook in Webhook.objects.all():
            expected[webhook.pk] = failing_since(webhook, expected[webhook.pk], at)
        judge_webhooks(now=at)
        assert dict(Webhook.objects.values_list("pk", "failing_since")) == expected
        seen |= set(expected.values())
    assert len(seen) > 20, "They differ, so that there is something to find."


def failing_since(webhook: Webhook, before: datetime | None, now: datetime) -> datetime | None:
    """From all deliveries and attempts of this one. One that only gave up more than 72 hours ago isn't looked at."""
    own = Delivery.objects.filter(webhook=webhook).exclude(event_type="webhook.test")
    successes = own.filter(status="SUCCEEDED").values_list("finished_at", flat=True)
    success = max(filter(None, successes), default=None)
    if before and not (success and success >= before):
        return before
    recent = max(filter(None, (success, now - health.DISABLED_AFTER)))
    failed = own.filter(Q(status="RETRYING") | Q(status="EXHAUSTED", finished_at__gt=success or START - HOUR))
    if not (before or failed.filter(Q(finished_at=None) | Q(finished_at__gt=recent)).exists()):
        return None
    after = max(filter(None, (success, webhook.judged_from)), default=START - HOUR)
    failed = failed.filter(Q(finished_at=None) | Q(finished_at__gt=after))
    attempts = Attempt.objects.filter(delivery__in=failed, attempted_at__gt=after)
    return min(attempts.values_list("attempted_at", flat=True), default=None)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_webhooks_are_judged_by_one_process_at_a_time(webhook: Webhook) -> None:
    began = timezone.now() - 2 * HOUR
    fail_badly(webhook, at=began)
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('webhooks.tasks.judge_webhooks'))")
        task()
        webhook.refresh_from_db()
        assert webhook.failing_since is None
        cursor.execute("SELECT pg_advisory_unlock_all()")  # closing alone gives it back a moment later
    other.close()
    task()
    webhook.refresh_from_db()
    assert webhook.failing_since == began


# Telling


def tell(webhook: Webhook, at: datetime) -> list[str]:
    judge_webhooks(now=at)
    mail.outbox.clear()
    notify_developers(now=at)
    send_due()
    return [message.subject for message in mail.outbox]


@pytest.mark.long
@pytest.mark.spec(
    "Contract 5 Webhooks",
    "The developer is warned by e-mail at 24 and 48 hours, and notified when it is disabled",
)
@pytest.mark.django_db(transaction=True)
def test_developer_is_told_once_at_each_step(webhook: Webhook, app: App) -> None:
    fail_badly(webhook)
    failing, disabled = f"{app.name}: webhooks are failing", f"{app.name}: webhooks have been disabled"
    told = {hour: tell(webhook, START + hour * HOUR) for hour in (1, 23, 24, 25, 47, 48, 50, 71, 72, 73, 100)}
    expected: dict[int, list[str]] = {hour: [] for hour in told}
    assert told == expected | {24: [failing], 48: [failing], 72: [disabled]}


@pytest.mark.django_db(transaction=True)
def test_mail_goes_to_the_developer_and_names_the_endpoint(webhook: Webhook, app: App) -> None:
    fail_badly(webhook)
    tell(webhook, START + 24 * HOUR)
    [message] = mail.outbox
    assert message.to == [app.developer.email]
    assert URL in message.body
    assert "since 1 November 2026, 00:00 UTC" in message.body
    assert f"/portal/apps/{app.slug}/" in message.body
    assert webhook.secret not in message.body
    tell(webhook, START + 72 * HOUR)
    [message] = mail.outbox
    assert health.FAILED in message.body
    assert "press Enable" in message.body
    assert f"/portal/apps/{app.slug}/webhooks/" in message.body


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_many_installations_that_fail_make_one_mail(app: App, dana: Any) -> None:
    shops = [factories.business(dana) for _ in range(3)]
    for number, shop in enumerate(shops):
        webhook = helpers.webhook(factories.installation(app, shop), URL, ["order.created"])
        fail_badly(webhook, at=START + number * timedelta(minutes=20))
    subjects = [tell(webhook, START + 24 * HOUR + timedelta(minutes=minute)) for minute in (0, 20, 40, 61)]
    assert [len(each) for each in subjects] == [1, 0, 0, 1]
    assert mail.outbox[0].body.count(URL) == 2


@pytest.mark.django_db(transaction=True)
def test_recovered_webhook_is_warned_of_anew(webhook: Webhook) -> None:
    fail_badly(webhook)
    assert len(tell(webhook, START + 24 * HOUR)) == 1
    attempted(webhook, 200, at=START + 30 * HOUR)
    assert tell(webhook, START + 50 * HOUR) == []
    attempted(webhook, 500, at=START + 60 * HOUR)
    assert len(tell(webhook, START + 84 * HOUR)) == 1


def test_state_for_pages(webhook: Webhook) -> None:
    fail_badly(webhook)
    judged = judge(webhook, START + 30 * HOUR)
    assert health.stage(judged, START + 30 * HOUR) == Stage.FAILING
    assert health.stage(judged, START + 49 * HOUR) == Stage.FAILING_LONGER
    assert health.disables_at(judged) == START + 72 * HOUR
    judged = judge(webhook, START + 72 * HOUR)
    assert health.stage(judged, START + 72 * HOUR) == Stage.DISABLED
    assert health.disables_at(judged) is None
