"""The weekly check of listed apps: the sample app behind a listing, as it is or with a mistake, while weeks go by."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from flask import Flask, abort, request

from accounts.models import Business, User
from activity import log as call_log
from activity.models import ApiCall, ScopeUse
from common.ids import first_id_at
from conformance.models import Run, WeeklyCheck
from conformance.services import runs, weekly
from conformance.services.runs import end_overdue, remove_ended, start
from conformance.tasks import check_listed_apps
from extensions.models import HookCall
from marketplace.models import App
from tests import factories
from tests.conformance.mutants import MUTANTS, forbids_frames, ignores_the_timestamp
from tests.conformance.order_bell import OrderBell
from tests.developers.review.reviewing import QUEUE, client_of, page_of
from tests.pages import HTML, signed_in, words_of
from tests.sessions import another_session
from webhooks.insight.analytics import thirty_days
from webhooks.models import Delivery

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timed,
    pytest.mark.usefixtures("mails_leave_at_once"),
]

WEEK = timedelta(days=7)
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _turned_on(settings: Any) -> None:
    settings.WEEKLY_CHECKS = True


@pytest.fixture
def reviewer(db: None) -> Client:
    return client_of(factories.reviewer("rae@example.com", name="Rae Ito", is_superuser=True))


def listed(app: App, **fields: Any) -> App:
    factories.approve(app, **fields)
    return app


class Weeks:
    """Goes from one weekly check of an app to the next."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def __call__(self, count: int = 1) -> None:
        for _ in range(count):
            weekly.plan(self.now)
            self.now += WEEK
            assert weekly.check_due(now=self.now) == 1


@pytest.fixture
def weeks() -> Weeks:
    return Weeks()


def since() -> str:
    """As the listing has it."""
    at = WeeklyCheck.objects.get(failing_since__isnull=False).failing_since
    assert at
    return f"Hasn’t passed its checks since {at:%-d} {at:%B}"


def listing_of(app: App) -> str:
    return words_of(Client().get(f"/marketplace/{app.slug}/", **HTML))


def queue_of(reviewer: Client) -> str:
    return words_of(reviewer.get(QUEUE, **HTML))


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Checks",
    "A listed app is checked each week; three failed weeks are said, and a passed one ends it",
)
def test_three_failed_weeks_are_said_and_a_passed_one_ends_it(
    order_bell: OrderBell, dana: User, sam: User, reviewer: Client, weeks: Weeks
) -> None:
    app = listed(order_bell())
    other = listed(factories.app(sam, name="Quiet"))
    WeeklyCheck.objects.create(app=other, due_at=weeks.now + 99 * WEEK, version_number=1)
    weeks()
    assert mail.outbox == []
    checks = f"/portal/apps/{app.slug}/checks/"
    assert "Weekly check Passed on" in words_of(signed_in(dana).get(checks, **HTML))

    order_bell.become(app, ignores_the_timestamp)
    weeks()
    (failed,) = mail.outbox
    assert failed.to == [dana.email]
    assert failed.subject == f"{app.name} failed its weekly check"
    assert (
        "WH005: Refuses a delivery that is ten minutes old. Sent ten minutes ago: responded 200"
        in failed.body
    )
    assert "extension-platform check" in failed.body
    page = signed_in(dana).get(re.findall(r"https?://[^/]+(/portal/\S+)", failed.body)[-1], **HTML)
    assert "The platform, each week" in words_of(page)
    weeks()
    assert len(mail.outbox) == 1
    assert "its checks" not in listing_of(app)
    assert "checks since" not in queue_of(reviewer)

    weeks()
    assert [each.subject for each in mail.outbox[1:]] == [
        f"{app.name}: the listing says that it doesn’t pass its checks"
    ]
    assert since() in listing_of(app)
    assert since() in queue_of(reviewer)
    assert "WH006 Refuses a delivery from the future" in queue_of(reviewer)
    assert "3 failed weeks" in queue_of(reviewer)
    assert since() in words_of(reviewer.get(page_of(app), **HTML))
    assert since() in words_of(signed_in(dana).get(checks, **HTML))
    assert "its checks" not in listing_of(other)
    weeks()
    assert len(mail.outbox) == 2

    order_bell.become(app)
    weeks()
    assert [each.subject for each in mail.outbox[2:]] == [f"{app.name} passes its checks again"]
    assert "its checks" not in listing_of(app)
    assert "checks since" not in queue_of(reviewer)
    weeks()
    assert len(mail.outbox) == 3


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1500)
def test_good_app_passes_for_a_hundred_weeks(order_bell: OrderBell, weeks: Weeks) -> None:
    """Whatever fails once in a while would be a false alarm each week, among many apps."""
    app = listed(order_bell())
    for _ in range(100):
        weeks()
        remove_ended(now=timezone.now() + timedelta(minutes=1))
    assert Run.objects.filter(app=app, status="PASSED").count() == 100
    assert mail.outbox == []
    assert "its checks" not in listing_of(app)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.timeout(1500)
def test_each_mutant_is_named_within_one_week(order_bell: OrderBell, weeks: Weeks) -> None:
    """One live app, whose server gets one mistake after the other. It passed the week before each of them."""
    app = listed(order_bell())
    weeks(2)
    assert mail.outbox == []
    wrong = {}
    for name, (change, rules) in MUTANTS.items():
        order_bell.become(app, change)
        WeeklyCheck.objects.update(failed_rules=[], failed_weeks=0, failing_since=None, counted_at=None)
        mail.outbox.clear()
        weeks()
        told = "".join(each.body for each in mail.outbox)
        named = set(re.findall(r"^- ([A-Z]{2}\d{3}):", told, re.MULTILINE))
        if named != rules or set(WeeklyCheck.objects.get().failed_rules) != rules:
            wrong[name] = f"{sorted(named)} instead of {sorted(rules)}"
        remove_ended(now=timezone.now() + timedelta(minutes=1))
    order_bell.become(app)
    mail.outbox.clear()
    weeks(2)
    assert len(mail.outbox) == 1  # that it passes again
    assert not wrong, json.dumps(wrong, indent=2)


@pytest.mark.parametrize(
    ("weeks_before", "says"), [(1, "its listing will say so"), (3, "Its listing still says so")]
)
def test_mail_about_another_rule_says_what_the_listing_says(dana: User, weeks_before: int, says: str) -> None:
    (app,) = apps_at(dana, "a.example.com")
    row = WeeklyCheck.objects.create(
        app=app, due_at=MONDAY, version_number=1, failed_rules=["WH005"], failed_weeks=weeks_before,
        failing_since=MONDAY - weeks_before * WEEK, counted_at=MONDAY - WEEK + timedelta(hours=30),
    )  # fmt: skip
    found = [{"rule": rule, "outcome": "FAIL", "text": "Responded 200."} for rule in ("WH005", "WH006")]
    run = Run.objects.create(
        app=app,
        sender="WEEKLY",
        version=app.approved_version,
        status="FAILED",
        findings=found,
        deadline_at=MONDAY,
    )
    assert weekly.conclude(claimed=row, run=run, now=MONDAY)
    (told,) = mail.outbox
    assert says in told.body
    assert ("failed its weekly check. If" in told.body) is (weeks_before == 1)
    assert "WH006" in told.body


@pytest.mark.long
def test_what_fails_once_and_not_again_is_no_finding(order_bell: OrderBell, weeks: Weeks) -> None:
    """A problem of ours, or a server that was just being restarted."""
    app = listed(order_bell())
    refused: list[str] = []

    def restarts(flask: Flask) -> None:
        @flask.before_request
        def refuse_the_first() -> None:
            if not refused:
                refused.append(request.path)
                abort(503)

    order_bell.become(app, restarts)
    weeks()
    assert refused == ["/callback"]
    assert mail.outbox == []
    assert WeeklyCheck.objects.get().failed_rules == []


@pytest.mark.long
def test_what_stores_run_is_tried_and_not_the_working_copy(order_bell: OrderBell, weeks: Weeks) -> None:
    """The developer is in the middle of the next version, whose server isn't there yet."""
    app = listed(order_bell())
    App.objects.filter(pk=app.pk).update(
        webhook_url="https://localhost:9/new",
        redirect_url="https://localhost:9/new",
        scopes=["read_products"],
    )
    app.definitions.filter(type="hook").delete()
    weeks()
    run = Run.objects.get()
    assert [each for each in run.findings if each["outcome"] == "FAIL"] == []
    assert {each["rule"] for each in run.findings if each["outcome"] == "PASS"} > {"WH001", "WH005", "ER002"}
    assert WeeklyCheck.objects.get().failed_rules == []


@pytest.mark.long
def test_it_counts_nowhere(order_bell: OrderBell, dana: User, weeks: Weeks) -> None:
    app = listed(order_bell())
    before = thirty_days(app)
    weeks()
    call_log.flush()
    remove_ended(now=timezone.now() + timedelta(minutes=1))
    assert not Business.objects.filter(expires_at__isnull=False).exists()
    assert thirty_days(app) == before
    assert not ApiCall.objects.exists()
    assert not ScopeUse.objects.exists()
    assert not HookCall.objects.exists()
    assert not Delivery.objects.exists()
    page = signed_in(dana).post(f"/portal/apps/{app.slug}/checks/", follow=True, **HTML)
    assert "A check is running already" not in words_of(page)


@pytest.mark.long
def test_running_weekly_check_keeps_no_developer_from_a_check(order_bell: OrderBell, dana: User) -> None:
    app = listed(order_bell())
    start(app=app, sender=weekly.Sender.WEEKLY, version=app.approved_version)
    page = signed_in(dana).post(f"/portal/apps/{app.slug}/checks/", follow=True, **HTML)
    assert "A check is running already" not in words_of(page)
    assert "passed" in words_of(page)


@pytest.mark.long
def test_rule_with_whose_failure_a_reviewer_approved_counts_once_it_has_passed(
    order_bell: OrderBell, weeks: Weeks
) -> None:
    app = order_bell(forbids_frames)
    version = factories.approve(app)
    evidence = [
        {"outcome": "FAIL", "text": "…", "rule": "FR001", "address": ""},
        {"outcome": "FAIL", "text": "…"},
    ]
    submission = app.submissions.get(approved_version=version)
    submission.checks = {
        "at": "2026-11-20T15:04:05.123Z",
        "results": [{"title": "Behavior", "evidence": evidence}],
    }
    submission.save()
    weeks(3)
    assert mail.outbox == []
    assert "its checks" not in listing_of(app)
    order_bell.become(app)
    weeks()
    order_bell.become(app, forbids_frames)
    weeks()
    assert "FR001" in mail.outbox[0].body


@pytest.mark.long
def test_new_version_of_an_app_that_does_not_pass_is_checked_at_once(
    order_bell: OrderBell, weeks: Weeks
) -> None:
    app = listed(order_bell(ignores_the_timestamp))
    weeks(3)
    assert since() in listing_of(app)
    order_bell.become(app)
    factories.approve(app)
    weekly.check_due(now=weeks.now + timedelta(hours=2))
    assert "its checks" not in listing_of(app)


# --- When ------------------------------------------------------------------------------------------


def planned(*apps: App, due_at: datetime = MONDAY) -> None:
    WeeklyCheck.objects.bulk_create(WeeklyCheck(app=app, due_at=due_at, version_number=1) for app in apps)


def apps_at(developer: User, *hosts: str) -> list[App]:
    return [listed(factories.app(developer, redirect_url=f"https://{host}/callback")) for host in hosts]


def claimed(now: datetime = MONDAY) -> App | None:
    """As a worker does that dies once its run has begun."""
    found = weekly.claim(now=now)
    if not found:
        return None
    version = found.app.approved_version
    Run.objects.create(app=found.app, sender="WEEKLY", version=version, started_at=now, deadline_at=now)
    return found.app


@pytest.mark.long
def test_apps_are_spread_over_the_week_each_at_its_own_moment(dana: User) -> None:
    moments = {weekly.slot(app.pk, MONDAY) for app in apps_at(dana, *["a.example.com"] * 70)}
    assert all(MONDAY < moment <= MONDAY + WEEK for moment in moments)
    assert {moment.weekday() for moment in moments} == set(range(7))
    app = apps_at(dana, "a.example.com")[0]
    first = weekly.slot(app.pk, MONDAY)
    assert weekly.slot(app.pk, first) == first + WEEK
    assert weekly.slot(app.pk, first - timedelta(seconds=1)) == first


def test_one_host_has_one_check_at_a_time_and_an_hour_between_two(dana: User, sam: User) -> None:
    one, same, other = apps_at(dana, "a.example.com", "a.example.com", "b.example.com")
    planned(one, same, other)
    assert {claimed(), claimed()} == {one, other}
    assert claimed() is None
    WeeklyCheck.objects.exclude(app=same).update(due_at=MONDAY + WEEK)
    assert claimed(MONDAY + timedelta(minutes=59)) is None
    assert claimed(MONDAY + timedelta(minutes=61)) == same


@pytest.mark.parametrize(("sender", "waits"), [("PLATFORM", True), ("DEVELOPER", False)])
def test_check_that_the_platform_sent_within_the_hour_comes_first(
    dana: User, sender: str, waits: bool
) -> None:
    """A command line sends to a server that its developer names, and may be anybody's."""
    (app,) = apps_at(dana, "a.example.com")
    due_at = weekly.slot(app.pk, timezone.now())
    planned(app, due_at=due_at)
    began = due_at - timedelta(minutes=30)
    Run.objects.create(pk=first_id_at(began), app=app, sender=sender, started_at=began, deadline_at=began)
    assert (claimed(due_at) is None) is waits
    if waits:
        assert claimed(due_at + timedelta(minutes=31)) == app


@pytest.mark.parametrize("change", ["suspended_at", "deleted_at"])
def test_suspended_and_deleted_apps_are_not_checked(dana: User, change: str) -> None:
    gone, stays = apps_at(dana, "a.example.com", "b.example.com")
    draft = factories.app(dana, redirect_url="https://c.example.com/callback")
    App.objects.filter(pk=gone.pk).update(**{change: MONDAY})
    weekly.plan(MONDAY)
    assert WeeklyCheck.objects.get().app == stays
    planned(gone, draft)
    assert claimed() is None
    assert claimed(MONDAY + WEEK) == stays
    assert claimed(MONDAY + WEEK) is None


@pytest.mark.long
def test_app_that_is_suspended_during_its_check_has_no_result(
    order_bell: OrderBell, weeks: Weeks, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = listed(order_bell())
    send = runs.send_probes

    def suspending(*args: Any) -> Any:
        App.objects.filter(pk=app.pk).update(suspended_at=timezone.now())
        return send(*args)

    monkeypatch.setattr(runs, "send_probes", suspending)
    weekly.plan(weeks.now)
    assert weekly.check_due(now=weeks.now + WEEK) == 0
    row = WeeklyCheck.objects.get()
    assert (row.tries, row.checked_at, row.failed_rules) == (0, None, [])
    assert row.due_at > weeks.now + WEEK
    assert mail.outbox == []


def test_worker_that_dies_in_a_check_leaves_it_to_another_one(dana: User) -> None:
    (app,) = apps_at(dana, "a.example.com")
    planned(app)
    assert claimed() == app
    assert claimed(MONDAY + timedelta(minutes=59)) is None
    assert claimed(MONDAY + timedelta(hours=1)) == app
    assert claimed(MONDAY + timedelta(hours=2)) == app
    assert claimed(MONDAY + timedelta(hours=3)) is None  # it may be what kills workers
    row = WeeklyCheck.objects.get()
    assert row.due_at == weekly.slot(app.pk, MONDAY + timedelta(hours=3))
    assert row.failed_weeks == 0
    assert claimed(row.due_at) == app


def test_result_of_a_worker_that_was_overtaken_is_left_out(dana: User) -> None:
    (app,) = apps_at(dana, "a.example.com")
    planned(app)
    late = weekly.claim(now=MONDAY)
    assert late
    assert claimed(MONDAY + timedelta(hours=1)) == app
    run = start(app=app, sender=weekly.Sender.WEEKLY, version=app.approved_version)
    assert not weekly.conclude(claimed=late, run=run, now=MONDAY + timedelta(hours=1))
    row = WeeklyCheck.objects.get()
    assert (row.tries, row.checked_at) == (2, None)


@pytest.mark.postgres
def test_one_worker_checks_at_a_time(dana: User) -> None:
    apps_at(dana, "a.example.com")
    with another_session() as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext('conformance.tasks.check_listed_apps'))")
        check_listed_apps()
        assert not WeeklyCheck.objects.exists()
        cursor.execute("SELECT pg_advisory_unlock_all()")
    check_listed_apps()
    assert WeeklyCheck.objects.exists()


@pytest.mark.long
def test_check_that_never_ends_is_ended_and_named(
    order_bell: OrderBell, weeks: Weeks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every response comes, and each so late that the time is up before the last step."""
    app = listed(order_bell())
    advance = runs.advance

    def slowly(**arguments: Any) -> Run:
        run: Run = arguments["run"]
        if run.step > 12:
            Run.objects.filter(pk=run.pk).update(deadline_at=timezone.now())
        return advance(**arguments)

    monkeypatch.setattr(runs, "advance", slowly)
    weeks()
    assert WeeklyCheck.objects.get().failed_rules == ["LATE"]
    assert "LATE: Answers all requests of the check within 90 seconds." in mail.outbox[0].body
    assert app.name in mail.outbox[0].subject
    assert end_overdue(now=timezone.now() + timedelta(hours=1)) == 0


@pytest.mark.long
def test_operator_turns_the_weekly_checks_off(dana: User, reviewer: Client, settings: Any) -> None:
    (app,) = apps_at(dana, "a.example.com")
    WeeklyCheck.objects.create(
        app=app, due_at=MONDAY, version_number=1, failed_weeks=3, failing_since=MONDAY, failed_rules=["WH005"]
    )
    assert "Hasn’t passed its checks since" in listing_of(app)
    settings.WEEKLY_CHECKS = False
    assert weekly.check_due(now=MONDAY + WEEK) == 0
    assert not Run.objects.exists()
    assert "its checks" not in listing_of(app)
    assert "checks since" not in queue_of(reviewer)
    assert "Weekly check" not in words_of(signed_in(dana).get(f"/portal/apps/{app.slug}/checks/", **HTML))
