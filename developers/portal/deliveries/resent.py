"""What becomes of deliveries that a developer has just resent, until it is known of all."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone

from marketplace.models import App
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.models import Delivery
from webhooks.queries import DeliveryRow

KEY: Final = "resent_deliveries"
SHOWN_FOR: Final = timedelta(minutes=5)


class ResendOutcome(StrEnum):
    """What became of one of them. The attempt that the press caused decides, not an earlier one."""

    DELIVERED = "delivered"
    SENDING = "being sent"
    RETRYING = "retrying"
    FAILED = "failed again"
    NOT_SENT = "not sent"


@dataclass(frozen=True, slots=True)
class Resent:
    by_outcome: Counter[ResendOutcome]
    at: datetime

    @property
    def total(self) -> int:
        return self.by_outcome.total()

    @property
    def waiting(self) -> int:
        return self.by_outcome[ResendOutcome.SENDING]

    @property
    def kind(self) -> str:
        if self.waiting:
            return "info"
        return "ok" if self.by_outcome[ResendOutcome.DELIVERED] == self.total else "warn"

    @property
    def title(self) -> str:
        one, many = ("delivery is", "deliveries are") if self.waiting else ("delivery", "deliveries")
        said = f"{self.total} {one if self.total == 1 else many}"
        return (
            f"{said} being resent."
            if self.waiting
            else f"{said} resent at {timezone.localtime(self.at):%H:%M:%S}"
        )

    @property
    def text(self) -> str:
        """`3 delivered, 1 being sent.`"""
        counts = [f"{self.by_outcome[each]} {each}" for each in ResendOutcome if self.by_outcome[each]]
        return ", ".join(counts) + "."


def remember(request: HttpRequest, app: App, deliveries: Iterable[Delivery | DeliveryRow]) -> None:
    """For the next pages of this session. Each delivery is as it was before the press. Earlier ones of the session are forgotten."""
    attempts = {str(each.pk): each.attempt_count for each in deliveries}
    request.session[KEY] = {"app": str(app.pk), "at": timezone.now().timestamp(), "attempts": attempts}


def is_remembered(request: HttpRequest) -> bool:
    return KEY in request.session


def resent_of(request: HttpRequest, app: App) -> Resent | None:
    """Those that this session has resent a moment ago."""
    kept = request.session.get(KEY)
    if not kept or kept["app"] != str(app.pk) or "attempts" not in kept:
        return None
    at = datetime.fromtimestamp(kept["at"], timezone.get_current_timezone())
    if timezone.now() - at > SHOWN_FOR:
        return None
    attempts = {UUID(each): number for each, number in kept["attempts"].items()}
    found = Delivery.objects.filter(app_id=app.pk, pk__in=attempts).values_list(
        "pk", "status", "attempt_count"
    )
    outcomes = Counter(_outcome(status, number > attempts[pk]) for pk, status, number in found)
    return Resent(outcomes, at) if outcomes else None


def _outcome(status: str, was_tried: bool) -> ResendOutcome:
    if status in WAITING and not (was_tried and status == DeliveryStatus.RETRYING):
        return ResendOutcome.SENDING
    return {
        DeliveryStatus.SUCCEEDED: ResendOutcome.DELIVERED,
        DeliveryStatus.RETRYING: ResendOutcome.RETRYING,
        DeliveryStatus.EXHAUSTED: ResendOutcome.FAILED,
    }.get(DeliveryStatus(status), ResendOutcome.NOT_SENT)
