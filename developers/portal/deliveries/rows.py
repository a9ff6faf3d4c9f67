"""The rows of the list of deliveries, as their template writes them; and failing ones grouped by cause, so that an outage is one line with one
button.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.templatetags.links import address
from common.templatetags.rows import by_day
from common.templatetags.ui import ICON_OF_KIND, clock, host, icon, pill, row_moment, thousands
from developers.portal.deliveries import log as delivery_log
from marketplace.models import App
from webhooks import catalogue
from webhooks.engine import retry
from webhooks.enums import DeliveryStatus
from webhooks.insight.diagnosis import Diagnosis, diagnose, in_short
from webhooks.queries import DeliveryRow
from webhooks.templatetags.webhooks import LOOKS

COLUMNS: Final = 8  # of the list


def delivery_rows(
    app: App, deliveries: Collection[DeliveryRow], selected: Collection[UUID]
) -> list[dict[str, Any] | SafeString]:
    """With the heads of their days."""
    most = len(retry.delays()) + 1
    rows = [_row(app, each, most, each.pk in selected) for each in deliveries]
    return by_day(rows, [each.created_at for each in deliveries], COLUMNS)


def _row(app: App, delivery: DeliveryRow, most: int, is_selected: bool) -> dict[str, Any]:
    event_type, duration = delivery.event_type, delivery.duration_ms
    attempts = "1 of 1" if event_type == catalogue.WEBHOOK_TEST else f"{delivery.attempts_made} of {most}"
    return {
        "id": delivery.pk,
        "url": address("portal:delivery", app.slug, delivery.pk),
        "event": event_type,
        "clock": clock(delivery.created_at),
        "checked": " checked" if is_selected else "",
        "status": status_of_delivery(delivery),
        "store": store_cell(delivery.store, delivery.is_test),
        "endpoint": _endpoint(delivery.webhook_url, delivery.webhook_description),
        "attempts": attempts,
        "duration": nothing() if duration is None else f"{thousands(duration)} ms",
        "created": row_moment(delivery.created_at),
    }


# Typed, so that a safe text isn't taken for one that somebody typed.
@lru_cache(maxsize=1000, typed=True)
def store_cell(name: str, is_test: bool) -> SafeString:
    return format_html(
        '<span class="store-cell">{0}<span class="cut" dir="auto" title="{1}">{1}</span></span>',
        test_dot() if is_test else "",
        name,
    )


@lru_cache(maxsize=1000, typed=True)
def _endpoint(url: str, description: str) -> SafeString:
    return format_html('<span class="cut" title="{}">{}</span>', url, description or host(url))


def status_of_delivery(row: DeliveryRow) -> SafeString:
    kind, label, icon_name = LOOKS[DeliveryStatus(row.status)]
    return status_cell(kind, label, icon_name, in_short(row.http_status, row.error_class))


@lru_cache(maxsize=500, typed=True)
def status_cell(kind: str, label: str, icon_name: str, said: str) -> SafeString:
    """What became of a row, in each list the same: `said` is the status that came back, or why none did, in a word or two.

    A success is a tick and the status. All else has a word, and a color if somebody should look at it.
    """
    if kind != "ok" or not said:
        shown = pill(kind, label, icon_name)
        return format_html('{} <span class="came-back">{}</span>', shown, said) if said else shown
    return format_html(
        '<span class="pill kind-ok">{}<span class="visually-hidden">{} </span><span class="came-back">{}</span></span>',
        icon(icon_name or ICON_OF_KIND[kind]),
        label,
        said,
    )


@cache
def nothing() -> SafeString:
    return format_html('<span class="none">{}</span>', "—")


@cache
def test_dot() -> SafeString:
    """Before the name of a store on which its owner tests the app."""
    return format_html(
        '<span class="test-dot" title="{0}">{1}<span class="visually-hidden">{0} on </span></span>',
        "Test install",
        icon("diamond"),
    )


# --- Failing deliveries by cause ---------------------------------------------------------------------

WINDOW: Final = timedelta(days=7)
MOST: Final = 100  # deliveries of each status that are read: a page with 600 rows took twice as long
SHOWN: Final = 5  # groups


class FailureReason(NamedTuple):
    """`reason` is an HTTP status or an error class."""

    reason: str
    host: str


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Failing deliveries to one host with the same outcome."""

    cause: FailureReason
    diagnosis: Diagnosis
    deliveries: list[DeliveryRow]  # newest first
    is_bound: bool  # there may be more

    @property
    def title(self) -> str:
        """`Your endpoint returned 500 for 24 deliveries`."""
        seen, count = self.diagnosis.seen, len(self.deliveries)
        number = f"{'at least ' if self.is_bound else ''}{thousands(count)}"
        return f"{seen[:1].upper()}{seen[1:]} for {number} {'delivery' if count == 1 else 'deliveries'}"

    @property
    def newest(self) -> DeliveryRow:
        return self.deliveries[0]

    @property
    def since(self) -> datetime:
        return self.deliveries[-1].created_at

    @property
    def webhooks(self) -> dict[UUID, list[UUID]]:
        """The deliveries of each webhook."""
        found: dict[UUID, list[UUID]] = {}
        for each in self.deliveries:
            found.setdefault(each.webhook_id, []).append(each.pk)
        return found


def groups(app: App, now: datetime | None = None) -> list[FailureGroup]:
    """The largest groups of the last 7 days, largest first."""
    since = (now or timezone.now()) - WINDOW
    failing = delivery_log.failing(app, since=since, most=MOST)
    return _grouped(failing)[:SHOWN]


def _grouped(failing: Iterable[DeliveryRow]) -> list[FailureGroup]:
    by_cause: dict[FailureReason, list[DeliveryRow]] = defaultdict(list)
    diagnoses: dict[FailureReason, Diagnosis] = {}
    for each in failing:
        diagnosis = diagnose(each.http_status, each.error_class)
        if diagnosis is None:
            continue
        reason = str(each.http_status) if each.http_status is not None else each.error_class
        cause = FailureReason(reason, urlsplit(each.webhook_url).netloc)
        by_cause[cause].append(each)
        diagnoses[cause] = diagnosis
    found = [
        FailureGroup(cause, diagnoses[cause], deliveries, is_bound=len(deliveries) >= MOST)
        for cause, deliveries in by_cause.items()
    ]
    return sorted(found, key=lambda group: -len(group.deliveries))


def group_of(app: App, reason: str, host: str) -> FailureGroup | None:
    """None if nothing fails that way any more."""
    return next((each for each in groups(app) if each.cause == FailureReason(reason, host)), None)
