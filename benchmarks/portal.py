"""The portal's pages of an app with 100,000 installations and deliveries, and of one with 100, to a stock page (`pages.py` measures).

A third app has as many newer deliveries, as a site with other busy apps does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import orjson
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business
from benchmarks import shops
from benchmarks.options import Options
from benchmarks.pages import FEW, FRAME, SLOWEST, Area, Asked, browser_of, stock_page
from benchmarks.results import Row
from common.db import partitions
from common.ids import id_at
from extensions.models import HookCall
from marketplace.models import AppTotals
from stores.hookpoints import HookPoint
from webhooks import catalogue
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Erasure, Event, Webhook
from webhooks.services import counting

SPAN: Final = timedelta(days=29)
FRAME_OF: Final = "credentials/"  # asks nothing of its own


@dataclass(frozen=True, slots=True)
class Seeded:
    """An app with its rows. `middle` is a delivery of 14 days ago."""

    slug: str
    webhook: Webhook
    middle: Delivery
    rows: int

    def path(self, text: str) -> str:
        """`text` with the ids of this app filled in."""
        return f"/portal/apps/{self.slug}/" + text.format(
            webhook=self.webhook.pk,
            installation=self.webhook.installation_id,
            delivery=self.middle.pk,
            event=self.middle.event_id,
            order=_order_id(self.rows // 2),
            number=self.rows // 2,
            day=(timezone.now() - timedelta(days=20)).strftime("%Y-%m-%dT00:00"),
        )


PAGES: Final = {
    "overview": "",
    "webhooks": "webhooks/",
    "webhooks, page 40": "webhooks/?page=40",
    "analytics": "analytics/",
    "erasures": "erasures/",
    "hooks": "hooks/",
    "one hook": f"hooks/{HookPoint.SHIPPING_RATES}/",
    "versions": "versions/",
    "deleting the app": "delete/",
    "review": "review/",
    "logs": "logs/",
    "logs of one store": "logs/?installation={installation}",
    "logs, what failed": "logs/?status=failed",
    "API calls": "requests/",
    "use of scopes": "scopes/",
    "deliveries": "deliveries/",
    "… from the middle": "deliveries/?before={delivery}",
    "… back from the middle": "deliveries/?after={delivery}",
    "… of one webhook": "deliveries/?webhook={webhook}",
    "… of one store": "deliveries/?installation={installation}",
    "… status, common": "deliveries/?status=SUCCEEDED",
    "… status, rare": "deliveries/?status=EXHAUSTED",
    "… status, none": "deliveries/?status=CANCELLED",
    "… event, common": "deliveries/?event=order.created",
    "… event, rare": "deliveries/?event=review.deleted",
    "… event, none": "deliveries/?event=payment.expired",
    "… rare event and status": "deliveries/?event=review.deleted&status=EXHAUSTED",
    "… until 20 days ago": "deliveries/?until={day}",
    "… delivery ID": "deliveries/?q={delivery}",
    "… event ID": "deliveries/?q={event}",
    "… order ID": "deliveries/?q={order}",
    "… order number": "deliveries/?q={number}",
    "… an ID that is nowhere": "deliveries/?q=00000000-0000-7000-8000-000000000000",
    "how many deliveries are new": "deliveries/new/?after={delivery}",
    "one delivery": "deliveries/{delivery}/",
    "resend what failed": "deliveries/recover/",
}


FIGURES: Final = {
    "analytics, none in the cache": "analytics/",
    "analytics of 24 hours, none in the cache": "analytics/?range=24h",
}
"""Of an app whose deliveries are all of the last two days."""


def portal(options: Options) -> Iterator[Row]:
    """Every page that shows rows of an app."""
    rows = 2_000 if options.quick else 100_000
    shops.forget_deliveries()
    developer, stranger = shops.user(Role.DEVELOPER), shops.user(Role.DEVELOPER)
    for owner in (developer, stranger):
        Business.objects.create(owner=owner, name="Sandbox", slug=f"sandbox-{owner.pk}", is_sandbox=True)
    now = timezone.now()
    for weeks in range(6):
        partitions.make_ahead(Event, Delivery, Attempt, now=now - timedelta(weeks=weeks))
    for days in range(SPAN.days + 1):
        partitions.make_ahead(HookCall, now=now - timedelta(days=days))
    few, many = (_seed(developer, count, now - SPAN, now) for count in (FEW, rows))
    quiet, busy = (_seed(stranger, count, now - timedelta(days=2), now) for count in (FEW, rows))
    counting.count_recent()
    with stock_page(options) as stock:
        area = Area("Portal", options, stock, rows)
        client = browser_of(developer)
        yield area.row(
            Asked("the frame: credentials", client, few.path(FRAME_OF), many.path(FRAME_OF), FRAME)
        )
        yield area.row(Asked("apps", client, "/portal/", "/portal/"))
        for name, text in PAGES.items():
            yield area.row(Asked(name, client, few.path(text), many.path(text)))
        client = browser_of(stranger)
        for name, text in FIGURES.items():
            asked = Asked(
                name, client, quiet.path(text), busy.path(text), SLOWEST, of_many=True, before=cache.clear
            )
            yield area.row(asked)
        yield area.slowest()
        yield from area.served()


# Filling: one row of each kind, and copies of it in one statement for each table


def _seed(developer: Any, rows: int, since: datetime, until: datetime) -> Seeded:
    made = shops.app(developer)
    made.approved_version.webhook_url = made.webhook_url = "https://hooks.example.com/"
    made.save()
    made.approved_version.save()
    owner = shops.business()
    installed = shops.installation(made, owner)
    installed.installed_at = since
    installed.save()
    webhook = shops.webhook(installed, "https://hooks.example.com/orders")
    webhook.save()
    hook = shops.hook_of(made, HookPoint.SHIPPING_RATES)
    at = (until - since) / rows
    seeding = Copies(rows, since, at)
    seeding.copy(owner, {"id": seeding.id("b"), "slug": "'shop-' || %(salt)s || '-' || n"})
    seeding.copy(
        installed,
        {
            "id": seeding.id("c"),
            "business_id": seeding.id("b"),
            "installed_at": seeding.time,
            "uninstalled_at": f"CASE WHEN n %% 100 = 1 THEN {seeding.time} END",
        },
    )
    # Every hundredth has been uninstalled.
    AppTotals.objects.create(app=made, installs=rows + 1 - rows // 100)
    seeding.copy(
        Erasure(installation=installed, due_at=until),
        {"id": seeding.id("9"), "installation_id": seeding.id("c")},
        where="n %% 100 = 1",
    )
    seeding.copy(webhook, {"id": seeding.id("d"), "installation_id": seeding.id("c")})
    # One in twenty thousand is of a rare kind.
    kind = (
        "CASE WHEN n %% 20000 = 99 THEN 'review.deleted' WHEN n %% 2 = 0 THEN 'order.created'"
        " ELSE 'product.updated' END"
    )
    data = orjson.dumps(catalogue.EVENTS[shops.EVENT_TYPE].example).decode()
    seeding.copy(
        Event(business=owner, type=shops.EVENT_TYPE, data=data, occurred_at=since),
        {
            "id": seeding.id("e"),
            "business_id": seeding.id("b"),
            "type": kind,
            "data": """replace(replace(template.data, template.data::json ->> 'orderId',
                '0193f2aa-0000-7000-8000-' || lpad(n::text, 12, '0')),
                '"orderNumber":"' || (template.data::json ->> 'orderNumber') || '"', '"orderNumber":"' || n || '"')""",
            "occurred_at": seeding.time,
        },
    )
    # Every hundredth fails for good.
    failed = "n %% 100 = 7"
    seeding.copy(
        Delivery(
            event_id=installed.pk,
            webhook=webhook,
            event_type="order.created",
            status=DeliveryStatus.SUCCEEDED,
            attempts_made=1,
            attempt_count=1,
        ),
        {
            "id": seeding.id("f"),
            "event_id": seeding.id("e"),
            "webhook_id": seeding.id("d"),
            "event_type": kind,
            "business_id": seeding.id("b"),
            "status": f"CASE WHEN {failed} THEN 'EXHAUSTED' ELSE 'SUCCEEDED' END",
            "created_at": seeding.time,
            "finished_at": seeding.time,
        },
    )
    seeding.copy(
        Attempt(delivery_id=installed.pk, number=1, attempted_at=since, duration_ms=40),
        {
            "delivery_id": seeding.id("f"),
            "http_status": f"CASE WHEN {failed} THEN 503 ELSE 200 END",
            "error_class": f"CASE WHEN {failed} THEN 'http_5xx' ELSE '' END",
            "attempted_at": seeding.time,
        },
    )
    seeding.copy(
        HookCall(
            installation=installed,
            definition=hook,
            hook_point=HookPoint.SHIPPING_RATES,
            called_at=since,
            duration_ms=12,
            outcome="ANSWERED",
        ),
        {"id": seeding.id("a"), "installation_id": seeding.id("c"), "called_at": seeding.time},
    )
    middle = Delivery.objects.filter(app_id=made.pk, id__gte=id_at(since + (until - since) / 2))
    return Seeded(made.slug, webhook, middle.earliest("id"), rows)


class Copies:
    """Copies of a row, numbered by `n`, evenly over a time."""

    def __init__(self, rows: int, since: datetime, step: timedelta) -> None:
        self.rows, self.since, self.step = rows, since, step
        self.salt = f"{timezone.now().timestamp():.6f}".replace(".", "")[-12:]

    @property
    def time(self) -> str:
        return "%(since)s + n * %(step)s"

    def id(self, kind: str) -> str:
        """SQL for the nth id of a kind, a version 7 UUID of its time."""
        ms = "(extract(epoch FROM %(since)s + n * %(step)s) * 1000)::bigint"
        return (
            f"(lpad(to_hex({ms}), 12, '0') || '7{kind}00' || '8' || substr(md5(%(salt)s || n), 1, 8)"
            " || lpad(to_hex(n), 7, '0'))::uuid"
        )

    def copy(self, row: Any, changed: Mapping[str, str], *, where: str = "true") -> None:
        """Insert copies of `row`, which may be saved or not, with some columns changed."""
        fields = row._meta.local_concrete_fields
        values, parameters = [], {"since": self.since, "step": self.step, "salt": self.salt}
        for field in fields:
            parameters[field.column] = field.get_db_prep_save(field.pre_save(row, add=True), connection)
            value = f"%({field.column})s::{field.db_type(connection).removesuffix(' identity')}"
            values.append(changed.get(field.column, value).replace(f"template.{field.column}", value))
        columns = ", ".join(f'"{field.column}"' for field in fields)
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")  # no look-ups of foreign keys
            cursor.execute(
                f'INSERT INTO "{row._meta.db_table}" ({columns}) SELECT {", ".join(values)}'
                f" FROM generate_series(1, {self.rows}) AS n WHERE {where}",
                parameters,
            )
            cursor.execute("SET session_replication_role = origin")


def _order_id(number: int) -> str:
    return f"0193f2aa-0000-7000-8000-{number:012d}"
