"""What becomes of deliveries that a developer has just resent, until it is known of all."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone

from common.times import duration
from marketplace.models import App
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery

KEY: Final = "resent_deliveries"
SHOWN_FOR: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Resent:
    by_status: Counter[str]
    ago: timedelta

    @property
    def total(self) -> int:
        return self.by_status.total()

    @property
    def waiting(self) -> int:
        return self.by_status[DeliveryStatus.PENDING]

    @property
    def delivered(self) -> int:
        return self.by_status[DeliveryStatus.SUCCEEDED]

    @property
    def kind(self) -> str:
        if self.waiting:
            return "info"
        return "ok" if self.delivered == self.total else "warn"

    @property
    def title(self) -> str:
        one, many = ("delivery is", "deliveries are") if self.waiting else ("delivery", "deliveries")
        said = f"{self.total} {one if self.total == 1 else many}"
        return f"{said} being resent." if self.waiting else f"{said} resent {duration(self.ago)} ago"

    @property
    def text(self) -> str:
        """`3 delivered, 1 being sent`."""
        failed = self.total - self.delivered - self.waiting
        counts = ((self.delivered, "delivered"), (self.waiting, "being sent"), (failed, "failed again"))
        return ", ".join(f"{count} {word}" for count, word in counts if count) + "."


def remember(request: HttpRequest, app: App, deliveries: Iterable[UUID]) -> None:
    """For the next pages of this session. Earlier ones of it are forgotten."""
    ids = [str(each) for each in deliveries]
    request.session[KEY] = {"app": str(app.pk), "at": timezone.now().timestamp(), "ids": ids}


def resent_of(request: HttpRequest, app: App) -> Resent | None:
    """Those that this session has resent a moment ago."""
    kept = request.session.get(KEY)
    if not kept or kept["app"] != str(app.pk):
        return None
    ago = timezone.now() - datetime.fromtimestamp(kept["at"], timezone.get_current_timezone())
    if ago > SHOWN_FOR:
        return None
    found = Delivery.objects.filter(app_id=app.pk, pk__in=[UUID(each) for each in kept["ids"]])
    by_status = Counter(found.values_list("status", flat=True))
    return Resent(by_status, timedelta(seconds=max(1, int(ago.total_seconds())))) if by_status else None
