"""Groups failing deliveries by cause, so that an outage is one line with one button."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from django.utils import timezone

from common.templatetags.ui import thousands
from developers.portal.deliveries import log as delivery_log
from marketplace.models import App
from webhooks.insight.diagnosis import Diagnosis, diagnose
from webhooks.queries import DeliveryRow

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
        number = f"{'At least ' if self.is_bound else ''}{thousands(len(self.deliveries))}"
        return f"{number} × {self.diagnosis.seen}, all to {self.cause.host}"

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
