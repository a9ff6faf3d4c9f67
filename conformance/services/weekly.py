"""The check that every listed app has once a week (docs/decisions/0104): planned, claimed by a worker, concluded.

1. `plan`: each listed app has a moment of the week, by a hash of its id.
2. `claim`: the next app that is due is checked. One worker does that at a time (`conformance.tasks`). A host isn't checked within an hour
   of any other check of it that the platform sent. Developers can't put it off for longer than a day.
3. `conclude`: what failed is kept, and a change is mailed. If the worker dies before, the app is due again after an hour.
"""

import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import takewhile
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.enums import MailKind
from accounts.services.outbox import post_each
from common.db.rows import for_each
from common.errors import ServiceError
from common.ids import first_id_at
from common.mails.letters import MailDraft
from conformance.enums import Change, Outcome, RunStatus, Sender
from conformance.models import FAILED_WEEKS, Run, WeeklyCheck
from conformance.queries import Broken, broken_rules, results_of
from conformance.rules import LATE
from conformance.services.runs import check_app
from marketplace.access import people_to_notify
from marketplace.models import App, AppFields, AppVersion, Submission

log = logging.getLogger(__name__)

WEEK: Final = timedelta(days=7)
APART: Final = timedelta(hours=1)  # from any other check of the same host
PUT_OFF: Final = timedelta(days=1)  # at most, by checks that developers ask for
ANOTHER_WEEK: Final = timedelta(days=6)  # a check that comes earlier counts as the same week's
MOST_TRIES: Final = 3  # in one week, if none has a result
LOOKED_AT: Final = 50  # due apps, by one claim
WORKS_FOR: Final = 20.0  # seconds in which a task begins another check
_MONDAY: Final = datetime(1970, 1, 5, tzinfo=UTC)


def check_due(*, now: datetime | None = None) -> int:
    """Check what is due, one app after the other. Returns how many checks had a result. Not in a transaction."""
    if not settings.WEEKLY_CHECKS:
        return 0
    began = monotonic()

    def claims() -> Iterator[WeeklyCheck]:
        while monotonic() - began < WORKS_FOR and (claimed := claim(now=now or timezone.now())):
            yield claimed

    plan(now or timezone.now())
    return for_each(claims(), lambda claimed: _check(claimed, now), task="check_listed_apps")


def slot(app_id: UUID, after: datetime) -> datetime:
    """The app's next moment after this one: the same of each week, which begins on Monday in UTC."""
    offset = int.from_bytes(sha256(app_id.bytes).digest()[:8]) % int(WEEK.total_seconds())
    this_week = after - (after - _MONDAY) % WEEK + timedelta(seconds=offset)
    return this_week if this_week > after else this_week + WEEK


def plan(now: datetime) -> None:
    """Rows for apps that are newly listed. One that doesn't pass is due at once when it has a new version."""
    listed = App.objects.listed().select_related("approved_version").order_by("pk")
    new = listed.exclude(pk__in=WeeklyCheck.objects.values("pk"))
    for_each(new, partial(_add, now=now), task="check_listed_apps")
    updated = _of_listed().exclude(version_number=F("app__approved_version__number"))
    rows = updated.select_related("app__approved_version")
    for_each(rows, partial(_follow_version, now=now), task="check_listed_apps")


def _add(app: App, now: datetime) -> None:
    row = WeeklyCheck(app=app, due_at=slot(app.pk, now), **_of_version(app))
    WeeklyCheck.objects.bulk_create([row], ignore_conflicts=True)


def _follow_version(row: WeeklyCheck, now: datetime) -> None:
    due_at = now if row.failed_weeks else row.due_at
    of_version = _of_version(row.app)
    WeeklyCheck.objects.filter(pk=row.pk, version_number=row.version_number).update(
        due_at=due_at, **of_version
    )


def _of_listed() -> Any:
    return WeeklyCheck.objects.filter(app__in=App.objects.listed())


def _of_version(app: App) -> dict[str, Any]:
    version = _approved(app)
    return {"version_number": version.number, "accepted_rules": sorted(_failed_at_approval(version))}


def _approved(app: App) -> AppVersion:
    assert app.approved_version is not None  # it is listed
    return app.approved_version


def _failed_at_approval(version: AppVersion) -> set[str]:
    """Rules with whose failure a reviewer approved it: an app may ask merchants to sign in before it installs."""
    submission = Submission.objects.filter(approved_version=version).first()
    results = submission.checks.get("results", []) if submission else []
    lines = [line for result in results for line in result["evidence"] if line["outcome"] == Outcome.FAIL]
    return {line["rule"] for line in lines if "rule" in line}


# Claims


@transaction.atomic
def claim(*, now: datetime) -> WeeklyCheck | None:
    """The app to check now. Others that are due wait where their server was checked within the hour."""
    busy, busy_with_ours = _busy_hosts(now)
    due = _of_listed().filter(due_at__lte=now).order_by("due_at", "pk")
    claimed: list[WeeklyCheck] = []

    @transaction.atomic
    def look(row: WeeklyCheck) -> None:
        waits_for = busy_with_ours if _was_put_off(row, now) else busy
        until = [waits_for[host] for host in hosts_of(_approved(row.app)) if host in waits_for]
        if row.tries >= MOST_TRIES:
            log.error("The weekly check of %s never ended, and is left out this week.", row.app.slug)
            row.due_at, row.tries = slot(row.pk, now), 0
        elif until:
            row.due_at = max(until)
        else:
            row.due_at, row.tries = now + APART, row.tries + 1
            claimed.append(row)
        row.save(update_fields=["due_at", "tries"])

    rows = due.select_related("app__approved_version")[:LOOKED_AT]
    for_each(takewhile(lambda _: not claimed, rows), look, task="check_listed_apps")
    return claimed[0] if claimed else None


def _was_put_off(row: WeeklyCheck, now: datetime) -> bool:
    """Whether its moment of this week was long ago."""
    return now - (slot(row.pk, now) - WEEK) > PUT_OFF


Busy = dict[str, datetime]  # hosts, each with the moment from which on it may have another check


def _busy_hosts(now: datetime) -> tuple[Busy, Busy]:
    """With all checks that the platform sends, and with weekly ones alone. Command lines send theirs themselves."""
    everyones: Busy = {}
    ours: Busy = {}
    recent = Run.objects.filter(pk__gte=first_id_at(now - APART), started_at__gt=now - APART)
    for run in recent.exclude(sender=Sender.DEVELOPER).select_related("app", "version"):
        for host in hosts_of(run.version or run.app):
            for busy in (ours, everyones) if run.sender == Sender.WEEKLY else (everyones,):
                busy[host] = max(run.started_at + APART, busy.get(host, run.started_at))
    return everyones, ours


def hosts_of(tried: AppFields) -> set[str]:
    """Where an app's server is."""
    return {urlsplit(url).hostname or "" for url in (tried.redirect_url, tried.webhook_url) if url}


# Checks


def _check(claimed: WeeklyCheck, now: datetime | None) -> bool:
    app = claimed.app
    try:
        run = _run(app)
        new = _failed_in(run) - {*claimed.accepted_rules, *claimed.failed_rules}
        if new and new.isdisjoint(_failed_in(again := _run(app))):
            run = again  # what failed was a problem of ours, or of a moment
    except ServiceError as error:  # suspended meanwhile
        log.info("The weekly check of %s was left out: %s", app.slug, error.message)
        _let_go(claimed, now or timezone.now())
    else:
        if _is_still_what_stores_run(run):
            return conclude(claimed=claimed, run=run, now=now or timezone.now())
        _let_go(claimed, now or timezone.now())
    return False


def _run(app: App) -> Run:
    return check_app(app=app, version=_approved(app), sender=Sender.WEEKLY)


def _is_still_what_stores_run(run: Run) -> bool:
    """An app that was suspended or updated during the run can't have passed it."""
    return App.objects.listed().filter(pk=run.app_id, approved_version=run.version_id).exists()


def _let_go(claimed: WeeklyCheck, now: datetime) -> None:
    mine = WeeklyCheck.objects.filter(pk=claimed.pk, tries=claimed.tries)
    mine.update(tries=0, due_at=slot(claimed.pk, now))


@transaction.atomic
def conclude(*, claimed: WeeklyCheck, run: Run, now: datetime) -> bool:
    """Keep what a run found. False if another try has begun since."""
    row = WeeklyCheck.objects.select_for_update().filter(pk=claimed.pk).first()
    if row is None or row.tries != claimed.tries:
        return False
    passed = {each.rule.id for each in results_of(run) if each.outcome in (Outcome.PASS, Outcome.WARN)}
    failed = _failed_in(run)
    row.accepted_rules = [rule for rule in row.accepted_rules if rule not in passed]
    change = _record(row, sorted(failed - set(row.accepted_rules)), now)
    row.tries, row.checked_at, row.due_at = 0, now, slot(row.pk, now)
    row.save()
    if change is not None:
        mail_change(row, run, change)
    return True


def _failed_in(run: Run) -> set[str]:
    failed = {each.rule.id for each in results_of(run) if each.outcome == Outcome.FAIL}
    return {LATE.id} if not failed and run.status == RunStatus.FAILED else failed


def _record(row: WeeklyCheck, failed: list[str], now: datetime) -> Change | None:
    before, was_on_listing = row.failed_rules, row.is_on_listing
    row.failed_rules = failed
    if not failed:
        row.failed_weeks, row.failing_since, row.counted_at = 0, None, None
        return Change.PASSED if before else None
    row.failing_since = row.failing_since or now
    if row.counted_at is None or now - row.counted_at >= ANOTHER_WEEK:
        row.failed_weeks, row.counted_at = row.failed_weeks + 1, now
    if row.is_on_listing and not was_on_listing:
        return Change.LISTED
    return Change.BROKEN if set(failed) != set(before) else None


# --- Mails -------------------------------------------------------------------------------------------

_SUBJECTS: Final = {
    Change.BROKEN: "{app} failed its weekly check",
    Change.LISTED: "{app}: the listing says that it doesn’t pass its checks",
    Change.PASSED: "{app} passes its checks again",
}
TEMPLATE: Final = "conformance/mail/weekly.txt"


def mail_change(row: WeeklyCheck, run: Run, change: Change) -> None:
    """For the transaction of the result. The portal shows the same."""
    app = run.app
    context = weekly_context(app.name, app.slug, change, broken_rules(row, run), str(run.pk))
    context["is_on_listing"] = row.is_on_listing
    subject = _SUBJECTS[change].format(app=app.name)
    post_each(people_to_notify(app), MailDraft(subject, TEMPLATE, context), kind=MailKind.CHECKS)


def weekly_context(
    name: str, slug: str, change: Change, broken: Sequence[Broken], run_id: str
) -> dict[str, Any]:
    checks = f"{settings.BASE_URL}/portal/apps/{slug}/checks/"
    return {
        "app_name": name,
        "change": change.value,
        "broken": broken,
        "weeks": FAILED_WEEKS,
        "page": f"{checks}{run_id}/",
        "guide": f"{settings.BASE_URL}/docs/guides/testing-your-app/",
    }
