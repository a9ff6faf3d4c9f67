"""Reads deliveries: a single one, or a paginated list, newest first, which may have millions of rows.

Ids are ordered by time, so the rows are sorted by id only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from common.db.long_lists import total_of
from common.db.rows import get_or_not_found
from common.ids import parse_id
from marketplace.models import App
from webhooks.models import Delivery, Webhook

# What the APIs and pages show of a delivery: neither the event's `data` nor the webhook's secret.
COLUMNS: Final = (
    "id", "event_id", "event__type", "webhook_id", "webhook__installation_id", "webhook__url", "status",
    "created_at", "due_at", "finished_at", "attempt_count",
)  # fmt: skip
BODY: Final = ("event__data", "event__occurred_at", "event__business_id")


@dataclass(frozen=True, slots=True)
class History:
    """A list of deliveries before pagination."""

    rows: QuerySet[Delivery]
    newest: Callable[[slice], list[UUID]]

    @property
    def total(self) -> int:
        """How many there are. Above 10,000 the figure may be up to a minute old."""
        return total_of(self.rows)

    def page(self, window: slice) -> list[Delivery]:
        """The deliveries in the window, with `COLUMNS`."""
        return list(with_columns(Delivery.objects.filter(id__in=self.newest(window))).order_by("-id"))

    def whole_page(self, window: slice) -> list[Delivery]:
        """The same with everything that their bodies need, and their attempts: three statements for any number."""
        rows = Delivery.objects.filter(id__in=self.newest(window)).prefetch_related("attempts")
        return list(with_bodies(rows).order_by("-id"))


def deliveries_to(webhook: Webhook, *, status: str | None = None) -> History:
    rows = Delivery.objects.filter(webhook=webhook)
    return _one_list(rows.filter(status=status) if status else rows)


def delivery_to(webhook: Webhook, delivery_id: object) -> Delivery:
    """Raises NotFound for a malformed id or another webhook's delivery."""
    return _one(Delivery.objects.filter(webhook=webhook), delivery_id)


def deliveries_of_app(
    app: App,
    *,
    status: str | None = None,
    event_type: str | None = None,
    installation_id: object = None,
    business_id: UUID | None = None,
) -> History:
    """The deliveries of all installations of the app, including ended ones and deleted webhooks.

    Another app's `installation_id` gives an empty list.
    """
    rows = Delivery.objects.filter(app_id=app.pk)
    if installation_id is not None:
        own = Webhook.objects.filter(installation=parse_id(installation_id), installation__app=app)
        rows = rows.filter(webhook__in=list(own.values_list("pk", flat=True)))
    if business_id is not None:
        rows = rows.filter(business_id=business_id)
    if status is not None:
        rows = rows.filter(status=status)
    return _one_list(rows if event_type is None else rows.filter(event_type=event_type))


def delivery_of_app(app: App, delivery_id: object) -> Delivery:
    """Raises NotFound for a malformed id or another app's delivery."""
    return _one(Delivery.objects.filter(app_id=app.pk), delivery_id)


def _one(rows: QuerySet[Delivery], delivery_id: object) -> Delivery:
    """The delivery with everything that its body needs."""
    return get_or_not_found(with_bodies(rows), delivery_id, "Delivery not found")


def with_bodies(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.select_related("event", "webhook").only(*COLUMNS, *BODY)


def with_columns(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.select_related("event", "webhook").only(*COLUMNS)


def _one_list(rows: QuerySet[Delivery]) -> History:
    return History(rows, lambda window: list(rows.order_by("-id").values_list("id", flat=True)[window]))
