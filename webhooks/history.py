"""Reads deliveries: a single one, or a paginated list, newest first, which may have millions of rows.

Ids are ordered by time, so the rows are sorted by id only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from common.db.finders import get_or_not_found
from common.db.totals import total_of
from common.ids import parse_id
from marketplace.models import App
from webhooks.enums import DeliveryStatus
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


def deliveries_to(webhook: Webhook, *, status: str | None = None) -> History:
    rows = Delivery.objects.filter(webhook=webhook)
    return _one_list(rows.filter(status=status) if status else rows)


def delivery_to(webhook: Webhook, delivery_id: object) -> Delivery:
    """Raises NotFound for a malformed id or another webhook's delivery."""
    return _one(Delivery.objects.filter(webhook=webhook), delivery_id)


def deliveries_of_app(
    app: App, *, status: str | None = None, event_type: str | None = None, installation_id: object = None
) -> History:
    """The deliveries of all installations of the app, including ended ones and deleted webhooks.

    Another app's `installation_id` gives an empty list.
    """
    webhooks = Webhook.objects.filter(installation__app=app)
    if installation_id is not None:
        webhooks = webhooks.filter(installation=parse_id(installation_id))
    filters = {"status": status, "event__type": event_type}
    narrowed = {name: value for name, value in filters.items() if value is not None}
    rows = Delivery.objects.filter(webhook__in=webhooks.values("id"), **narrowed)
    if connection.vendor != "postgresql":
        return _one_list(rows)
    return History(rows, lambda window: _newest_of_each(webhooks, narrowed, window))


def delivery_of_app(app: App, delivery_id: object) -> Delivery:
    """Raises NotFound for a malformed id or another app's delivery."""
    return _one(Delivery.objects.filter(webhook__installation__app=app), delivery_id)


def _one(rows: QuerySet[Delivery], delivery_id: object) -> Delivery:
    """The delivery with everything that its body needs."""
    with_body = rows.select_related("event", "webhook").only(*COLUMNS, *BODY)
    return get_or_not_found(with_body, delivery_id, "Delivery not found")


def with_columns(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.select_related("event", "webhook").only(*COLUMNS)


def _one_list(rows: QuerySet[Delivery]) -> History:
    return History(rows, lambda window: list(rows.order_by("-id").values_list("id", flat=True)[window]))


_NEWEST_OF_EACH = """
SELECT newest.id FROM ({webhooks}) AS webhook (id, business_id) CROSS JOIN LATERAL (
    SELECT delivery.id FROM webhooks_delivery AS delivery {join}
    WHERE {conditions}
    ORDER BY {order}.id DESC LIMIT %s
) AS newest
ORDER BY newest.id DESC LIMIT %s OFFSET %s
"""
_JOIN_EVENT: Final = "JOIN webhooks_event AS event ON event.id = delivery.event_id"
_COLUMNS: Final = {"status": "delivery.status", "event__type": "event.type"}


def _newest_of_each(webhooks: QuerySet[Webhook], narrowed: dict[str, str], window: slice) -> list[UUID]:
    """The ids of the deliveries to these webhooks that lie in the window.

    Reads from an index the newest deliveries of each webhook, at most as many as the page can show. A plain query
    would make PostgreSQL scan all apps' deliveries, or sort all of this app's. A filter on the type uses the events'
    index, which is in the same order; but a status other than SUCCEEDED narrows more, because most deliveries succeed.
    """
    inner, parameters = webhooks.values("id", "installation__business").query.sql_with_params()
    by_type = "event__type" in narrowed and narrowed.get("status") in (None, DeliveryStatus.SUCCEEDED)
    conditions = ["delivery.webhook_id = webhook.id", *(f"{_COLUMNS[name]} = %s" for name in narrowed)]
    if by_type:
        conditions.append("event.business_id = webhook.business_id")
    sql = _NEWEST_OF_EACH.format(
        webhooks=inner,
        join=_JOIN_EVENT if "event__type" in narrowed else "",
        conditions=" AND ".join(conditions),
        order="event" if by_type else "delivery",
    )
    limits = [window.stop, window.stop - window.start, window.start]
    with connection.cursor() as cursor:
        cursor.execute(sql, [*parameters, *narrowed.values(), *limits])
        return [row[0] for row in cursor.fetchall()]
