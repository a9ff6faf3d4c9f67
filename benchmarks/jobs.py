"""What periodic tasks cost where there is much: to find the webhooks that fail, of 300,000 and of 3,000; and each task of the schedule.

The time is that of PostgreSQL's process, planning included, which other load on the machine hardly lengthens.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Final

from django.db import connection
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.enums import Role
from accounts.models import Business
from benchmarks import shops
from benchmarks.claiming import tidied
from benchmarks.options import Options
from benchmarks.portal import Copies
from benchmarks.results import Goal, Row, milliseconds
from common.db import partitions
from config.schedule import SCHEDULE
from installations.models import Installation
from stores.models import StoreTotals
from webhooks.enums import DeliveryStatus, Stage
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.disabling import judge_webhooks
from webhooks.services.notifications import notify_developers

FEW: Final = 3_000
FAILING: Final = 100
WEEKS: Final = 5
AGAIN: Final = 9  # runs, when nothing has changed
FIRST_RUNS: Final = 40  # at most, until a task has done what it finds: some do so much in a run
SOME: Final = 60  # statements of a task: so few don't matter
BY_STORES: Final = 1.5  # times as many for ten times as much


@dataclass(frozen=True, slots=True)
class Judged:
    """Seconds of PostgreSQL's process for the run that found the failures, and for later ones."""

    first: float
    later: float


def judging(options: Options) -> Iterator[Row]:
    many = 10 * FEW if options.quick else 100 * FEW
    few, lots = (_judged(count) for count in (FEW, many))
    for what, small, large in (("later", few.later, lots.later), ("first", few.first, lots.first)):
        yield Row(
            f"Judging {many:,} webhooks of which {FAILING} fail, {what} run, to {FEW:,}",
            milliseconds(small),
            milliseconds(large),
            large / small,
            Goal(1.5, 1.1),
        )
        yield Row(f"… PostgreSQL's time, {what} run", "", "", large * 1000, Goal(50, 25, unit=" ms"))


def _judged(count: int) -> Judged:
    """Of so many webhooks, each with two deliveries of the last five weeks."""
    shops.forget_deliveries()
    Webhook.objects.all().delete()
    _fill(count)
    tidied(Installation, Webhook, Event, Delivery, Attempt)
    _seconds()  # in a worker's session, which knows the tables
    Webhook.objects.filter(failing_since__isnull=False).update(
        failing_since=None, notified_stage=Stage.WELL, notified_at=None
    )
    first = _seconds()
    assert Webhook.objects.filter(failing_since__isnull=False).count() == FAILING
    return Judged(first, median(_seconds() for _ in range(AGAIN)))


def _seconds() -> float:
    connection.ensure_connection()
    process = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    began = int(process.read_text().split()[0])
    judge_webhooks()
    notify_developers()
    return (int(process.read_text().split()[0]) - began) / 1e9


# --- Every task of the schedule ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Of one run: statements, and seconds of PostgreSQL's process and of ours."""

    statements: int
    postgres: float
    python: float

    def __str__(self) -> str:
        return f"{self.statements}, {milliseconds(self.postgres)} + {milliseconds(self.python)}"


def jobs(options: Options) -> Iterator[Row]:
    """Each periodic task where nothing is new: 100,000 stores with an app and 1,000,000 deliveries of five weeks, to a tenth of both."""
    large = 1_000 if options.quick else 100_000
    few, many = _costs(large // 10), _costs(large)
    for name, cost in many.items():
        before = few[name]
        yield Row(
            name,
            str(before),
            str(cost),
            cost.statements / max(1, before.statements),
            reached="MISSED" if cost.statements > max(SOME, BY_STORES * before.statements) else "",
        )


def _costs(count: int) -> dict[str, TaskCost]:
    """Of each task once nothing is due to it, by its name."""
    shops.forget_deliveries()
    _fill(count, kinds="f012345678")
    tidied(Business, StoreTotals, Installation, Webhook, Event, Delivery, Attempt)
    tasks = sorted({each["task"] for each in SCHEDULE.values()} - {"webhooks.tasks.dispatch"})
    for name in tasks * 2:  # one may give another something to do, such as mails to send
        for _ in range(FIRST_RUNS):
            if _cost(import_string(name)).statements <= SOME:
                break
    return {name: _cost(import_string(name)) for name in tasks}


def _cost(task: Callable[[], object]) -> TaskCost:
    counted = 0

    def count(execute: Callable[..., object], *statement: object) -> object:
        nonlocal counted
        counted += 1
        return execute(*statement)

    connection.ensure_connection()
    process = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    sql, own = int(process.read_text().split()[0]), time.process_time()
    with connection.execute_wrapper(count):
        task()
    return TaskCost(counted, (int(process.read_text().split()[0]) - sql) / 1e9, time.process_time() - own)


def _fill(count: int, kinds: str = "f8") -> None:
    """So many stores with an installation, a webhook, and a delivery of each kind, which is a hexadecimal digit. Of the last kind some fail."""
    now = timezone.now()
    since = now - timedelta(weeks=WEEKS)
    for weeks in range(WEEKS + 1):
        partitions.make_ahead(Event, Delivery, Attempt, now=now - timedelta(weeks=weeks))
    owner = shops.business()
    StoreTotals.objects.get_or_create(business=owner)
    installed = shops.installation(shops.app(shops.user(Role.DEVELOPER)), owner)
    installed.save()
    webhook = shops.webhook(installed, "https://hooks.example.com/orders")
    webhook.save()
    rows = Copies(count, since, (now - since) / count)
    rows.copy(owner, {"id": rows.id("b"), "slug": "'shop-' || %(salt)s || '-' || n"})
    rows.copy(StoreTotals(business=owner), {"business_id": rows.id("b")})
    rows.copy(installed, {"id": rows.id("c"), "business_id": rows.id("b")})
    rows.copy(webhook, {"id": rows.id("d"), "installation_id": rows.id("c")})
    event = Event.objects.create(
        business=owner, type=shops.EVENT_TYPE, data=shops.message_data(), occurred_at=since
    )
    event.refresh_from_db()
    rows.copy(event, {"id": rows.id("e"), "business_id": rows.id("b"), "occurred_at": rows.time})
    delivered = Delivery(
        event_id=owner.pk,
        webhook=webhook,
        event_type=shops.EVENT_TYPE,
        status=DeliveryStatus.SUCCEEDED,
        attempts_made=1,
        attempt_count=1,
    )
    failed = f"n %% {count // FAILING} = 7"
    state = {
        "status": f"CASE WHEN {failed} THEN 'RETRYING' ELSE 'SUCCEEDED' END",
        "due_at": f"CASE WHEN {failed} THEN now() + interval '1 hour' END",
        "finished_at": f"CASE WHEN NOT {failed} THEN {rows.time} END",
    }
    columns = {"event_id": rows.id("e"), "webhook_id": rows.id("d"), "created_at": rows.time}
    delivered_well = [(kind, "0", {"finished_at": rows.time}) for kind in kinds[:-1]]
    for kind, at, changed in (*delivered_well, (kinds[-1], "1 minute", state)):
        rows.copy(delivered, {"id": rows.id(kind)} | columns | changed)
        rows.copy(
            Attempt(delivery_id=owner.pk, number=1, attempted_at=since, http_status=500, duration_ms=40),
            {"delivery_id": rows.id(kind), "attempted_at": f"{rows.time} + interval '{at}'"},
        )
