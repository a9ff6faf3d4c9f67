"""What it costs to find the webhooks that fail where many work: as many fail of 300,000 as of 3,000.

The time is that of PostgreSQL's process, planning included, which other load on the machine hardly lengthens.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Final

from django.db import connection
from django.utils import timezone

from accounts.enums import Role
from benchmarks import shops
from benchmarks.claiming import tidied
from benchmarks.options import Options
from benchmarks.portal import Copies
from benchmarks.results import Goal, Row, milliseconds
from common.db import partitions
from installations.models import Installation
from webhooks.enums import DeliveryStatus, Stage
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.disabling import judge_webhooks
from webhooks.services.notifications import notify_developers

FEW: Final = 3_000
FAILING: Final = 100
WEEKS: Final = 5
AGAIN: Final = 9  # runs, when nothing has changed


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


def _fill(count: int) -> None:
    now = timezone.now()
    since = now - timedelta(weeks=WEEKS)
    for weeks in range(WEEKS + 1):
        partitions.make_ahead(Event, Delivery, Attempt, now=now - timedelta(weeks=weeks))
    owner = shops.business()
    installed = shops.installation(shops.app(shops.user(Role.DEVELOPER)), owner)
    installed.save()
    webhook = shops.webhook(installed, "https://hooks.example.com/orders")
    webhook.save()
    rows = Copies(count, since, (now - since) / count)
    rows.copy(owner, {"id": rows.id("b"), "slug": "'shop-' || %(salt)s || '-' || n"})
    rows.copy(installed, {"id": rows.id("c"), "business_id": rows.id("b")})
    rows.copy(webhook, {"id": rows.id("d"), "installation_id": rows.id("c")})
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
    for kind, at, changed in (("f", "0", {"finished_at": rows.time}), ("8", "1 minute", state)):
        rows.copy(delivered, {"id": rows.id(kind)} | columns | changed)
        rows.copy(
            Attempt(delivery_id=owner.pk, number=1, attempted_at=since, http_status=500, duration_ms=40),
            {"delivery_id": rows.id(kind), "attempted_at": f"{rows.time} + interval '{at}'"},
        )
