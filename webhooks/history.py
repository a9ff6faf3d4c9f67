"""Reading deliveries: one, or a list by pages, newest first. A list may have millions of rows.

Ids are ordered by time, so they order the rows alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from common.errors import NotFound
from common.ids import parse_id
from common.totals import total_of
from marketplace.models import App
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

# What a record of a delivery tells. Of its event not `data`, of its webhook not the secret.
TOLD: Final = (
    "id", "event_id", "event__type", "webhook_id", "webhook__installation_id", "webhook__url", "status",
    "created_at", "due_at", "finished_at", "attempt_count",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class History:
    """A list of deliveries before it is cut into pages."""

    rows: QuerySet[Delivery]
    newest: Callable[[slice], list[UUID]]

    @property
    def total(self) -> int:
        """How many there are; of more than 10,000 as of a minute ago at most."""
        return total_of(self.rows)

    def page(self, window: slice) -> list[Delivery]:
        """What lies in the window, with what a record tells."""
        return list(told(Delivery.objects.filter(id__in=self.newest(window))).order_by("-id"))


def deliveries_to(webhook: Webhook, *, status: str | None = None) -> History:
    rows = Delivery.objects.filter(webhook=webhook)
    return _one_list(rows.filter(status=status) if status else rows)


def delivery_to(webhook: Webhook, delivery_id: object) -> Delivery:
    """Raises NotFound: no id at all, or another webhook's delivery."""
    return _only(Delivery.objects.filter(webhook=webhook), delivery_id)


def deliveries_of_app(
    app: App, *, status: str | None = None, event_type: str | None = None, installation_id: object = None
) -> History:
    """Over all installations of the app, those that have ended and webhooks that were deleted included.

    An `installation_id` that is none of the app's narrows to nothing.
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
    """Raises NotFound: no id at all, or another app's delivery."""
    return _only(Delivery.objects.filter(webhook__installation__app=app), delivery_id)


def told(rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return rows.select_related("event", "webhook").only(*TOLD)


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
    """The ids in the window of what these webhooks got.

    Each webhook's newest are read from an index, and no more of them than the page could show. Without that
    PostgreSQL walks through everybody's deliveries, or sorts all of the app's. An event is as old as its
    deliveries; its index finds a rare type. Most deliveries succeed, so that another status narrows more.
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


def _only(rows: QuerySet[Delivery], delivery_id: object) -> Delivery:
    known_id = parse_id(delivery_id)
    delivery = told(rows).filter(id=known_id).first() if known_id else None
    if delivery is None:
        raise NotFound("Delivery not found")
    return delivery
