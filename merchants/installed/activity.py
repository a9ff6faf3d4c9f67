"""What an installed app did in a store in the last seven days, in words and as a plot for its owner; and what each of its hooks does, how it
performs, and what buyers saw when it failed.
"""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils import timezone

from accounts.models import Business
from activity.use import Summary, done_in
from common.money import display
from common.times import lately
from common.web.charts import Chart, Point, Series, chart
from extensions.hooks import health
from extensions.hooks.descriptions import DESCRIPTIONS, HookDescription
from extensions.hooks.health import NEWEST, Health
from extensions.models import Breaker, Definition, HookCall
from installations.models import Installation
from merchants.frame import InstalledApp
from merchants.orders.descriptions import part_of
from stores.dashboard import DaySpan
from stores.enums import OrderValidation
from stores.hookpoints import HookPoint
from stores.models import Order, OrderHookPart
from webhooks.queries import MANY, DeliveryHealth, delivery_health

READS: Final = {
    "read_products": "Read your products",
    "read_orders": "Read your orders and customers",
    "read_reviews": "Read your reviews",
    "read_analytics": "Read your sales figures",
    "read_business": "Read your store’s details",
    "read_pages": "Read your pages",
}
ACTS: Final = {
    ("POST", "/app-api/orders"): "Placed orders",
    ("PATCH", "/app-api/orders/{order_id}/status"): "Changed the status of orders",
    ("PATCH", "/app-api/orders/{order_id}/payment"): "Reported payments",
    ("PATCH", "/app-api/orders/{order_id}/attributes"): "Changed its own details of orders",
    ("GET", "/app-api/payment-methods"): "Asked for your payment methods",
    ("GET", "/app-api/events"): "Read what happened in your store",
    ("POST", "/app-api/exports"): "Exported records",
}
REFUSED: Final = "Tried something it has no permission for"
DAYS: Final = 7
READ, CHANGED, ASKED = range(3)  # the series of the plot


@dataclass(frozen=True, slots=True)
class ActivityLine:
    """One thing that the app did. `count` is None where it isn't counted; `problem` says what went wrong. `series` is the place in the
    plot of those that count it.
    """

    words: str
    count: int | None
    last: datetime | None
    is_cut: bool = False
    problem: str = ""
    series: int | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    lines: list[ActivityLine]  # latest first
    chart: Chart
    works_since: datetime | None  # where something failed in these days, since when all works


ORDERS_REFUSED: Final = "those orders were refused, as you chose"


@dataclass(frozen=True, slots=True)
class AtCheckout:
    """One thing that the app does at checkout, and how it performed lately."""

    definition: Definition
    description: HookDescription
    health: Health
    summary: str
    breaker: Breaker | None
    is_paused: bool
    is_on: bool

    @property
    def validates(self) -> bool:
        return self.definition.key == HookPoint.VALIDATE

    @property
    def usually(self) -> str:
        """The usual time of an answer."""
        return _seconds(self.health.p50 or 0)

    @property
    def is_open(self) -> bool:
        return self.breaker is not None and self.breaker.open_until is not None


def at_checkout(
    app: InstalledApp, off: Set[UUID], *, refuses: bool = False, now: datetime | None = None
) -> list[AtCheckout]:
    """Everything that the app does there, in the order of a checkout. `off` are the ids of what is switched off. One statement."""
    now = now or timezone.now()
    calls = HookCall.objects.filter(installation=app.installation)
    healths = health.healths_of(calls, app.hooks, now=now) if app.hooks else {}
    breakers = {each.definition_id: each for each in app.status.breakers}
    return [
        _one(each, healths[each.pk], breakers.get(each.pk), refuses, now, is_on=each.pk not in off)
        for each in app.hooks
    ]


def _one(
    definition: Definition,
    found: Health,
    breaker: Breaker | None,
    refuses: bool,
    now: datetime,
    *,
    is_on: bool,
) -> AtCheckout:
    description = DESCRIPTIONS[HookPoint(definition.key)]
    instead = ORDERS_REFUSED if refuses and definition.key == HookPoint.VALIDATE else description.buyers_saw
    return AtCheckout(
        definition=definition,
        description=description,
        health=found,
        summary=_summary(found, instead),
        breaker=breaker,
        is_paused=breaker is not None and health.is_paused(breaker, now),
        is_on=is_on,
    )


def _summary(found: Health, instead: str) -> str:
    if not found.asked:
        return "Not called in the last 7 days."
    called = f"Called {_times(found.asked)} in the last 7 days"
    if not found.failed:
        return f"{called}. It always responded, usually within {_seconds(found.p50 or 0)}."
    waited = (
        f"Checkout waited up to {_seconds(found.worst)} for this app"
        if found.worst
        else "Checkout didn't wait for it"
    )
    return f"{called}. {_times(found.failed).capitalize()} it didn't respond correctly. {waited}; {instead}."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def _seconds(milliseconds: int) -> str:
    return f"{max(0.1, milliseconds / 1000):.1f} s"


def activity_of(installation: Installation, at_checkout: list[AtCheckout]) -> Activity:
    """Calls of the app, what checkout asked it, and updates that it received. Two statements."""
    calls, received = done_in(installation), delivery_health(installation, timezone.now())
    return Activity(
        _lines(calls, at_checkout, received),
        _chart(installation, calls, at_checkout),
        works_since(at_checkout, received),
    )


def works_since(at_checkout: list[AtCheckout], received: DeliveryHealth) -> datetime | None:
    """None if nothing failed in these days, or if something hasn't worked since."""
    ends = [each.health.works_since for each in at_checkout if each.health.failed_at]
    if received.missed_at:
        worked = received.last_at is not None and received.last_at > received.missed_at
        ends.append(received.missed_at if worked else None)
    known = [each for each in ends if each]
    return max(known) if known and len(known) == len(ends) else None


def _lines(calls: Summary, at_checkout: list[AtCheckout], health: DeliveryHealth) -> list[ActivityLine]:
    lines = [
        ActivityLine(
            each.words,
            each.count,
            each.last,
            calls.is_cut,
            series=None if each.is_refused else CHANGED if each.is_change else READ,
        )
        for each in deeds_of(calls)
    ]
    lines += [_hook(each) for each in at_checkout if each.health.asked]
    if health.last_at or health.given_up:
        many = "1,000 or more" if health.given_up >= MANY else f"{health.given_up:,}"
        missed = f"{many} missed, the last {_at(health.missed_at)}" if health.missed_at else ""
        lines.append(ActivityLine("Received updates from your store", None, health.last_at, problem=missed))
    return sorted(lines, key=lambda line: line.last.timestamp() if line.last else 0, reverse=True)


def _hook(part: AtCheckout) -> ActivityLine:
    health = part.health
    made = health.failed - health.skipped
    what = ([f"{made:,} failed"] if made else []) + (
        [f"{health.skipped:,} skipped"] if health.skipped else []
    )
    failed = f"{', '.join(what)}, the last {_at(health.failed_at)}" if health.failed_at else ""
    return ActivityLine(
        part.description.done, health.asked, health.last, health.asked >= NEWEST, failed, ASKED
    )


def _at(moment: datetime) -> str:
    day = timezone.localtime(moment).date()
    return f"{'at' if day == timezone.localdate() else 'on'} {lately(moment)}"


def _chart(installation: Installation, calls: Summary, at_checkout: list[AtCheckout]) -> Chart:
    """By days of the store. Of more calls than are read, the older days are left out: they would look too low."""
    span = DaySpan.until(timezone.now(), ZoneInfo(installation.business.timezone), DAYS)

    def known(times: Sequence[datetime], is_cut: bool) -> list[bool]:
        oldest = times[-1].astimezone(span.zone).date() if is_cut and times else None
        return [oldest is None or day > oldest for day in span.dates]

    def by_day(times: list[datetime], kept: list[bool]) -> list[int | None]:
        found = Counter(at.astimezone(span.zone).date() for at in times)
        return [found[day] if is_kept else None for day, is_kept in zip(span.dates, kept, strict=True)]

    kept = known([at for at, _ in calls.times], calls.is_cut)
    series = [
        Series("Read", "first", by_day([at for at, changed in calls.times if not changed], kept)),
        Series("Changed", "second", by_day([at for at, changed in calls.times if changed], kept)),
    ]
    if at_checkout:
        asked = [each.health.times for each in at_checkout]
        days = [all(day) for day in zip(*(known(each, len(each) >= NEWEST) for each in asked), strict=True)]
        series.append(
            Series("Asked at checkout", "third", by_day([at for each in asked for at in each], days))
        )
    points = [Point(day) for day in span.dates]
    return chart(
        "activity", "What it did by day", points, series, empty="Nothing in these days.", is_stacked=True
    )


# The app's part in orders of a checkout elsewhere, which have no page here.

NEWEST_ORDERS: Final = 200
SHOWN_PARTS: Final = 50


@dataclass(frozen=True, slots=True)
class OrderPart:
    """`verdict` says whether all apps were heard that should have checked the order, and `amount` is for people."""

    order_number: str
    at: datetime
    kind: str
    title: str
    about: str
    amount: str
    verdict: str


def parts_in_orders(installation: Installation) -> list[OrderPart]:
    """What the app answered about the newest orders, newest first. None where each order has a page."""
    business = installation.business
    if business.capabilities.checkout:
        return []
    newest = Order.objects.filter(business=business).order_by("-id").values("pk")[:NEWEST_ORDERS]
    rows = OrderHookPart.objects.filter(order__in=newest, provider=str(installation.app_id))
    found = rows.select_related("order").order_by("-order__created_at", "-id")[:SHOWN_PARTS]
    return [_order_part(business, row) for row in found]


def _order_part(business: Business, row: OrderHookPart) -> OrderPart:
    part, order = part_of(row), row.order
    return OrderPart(
        order_number=order.number,
        at=row.at,
        kind=part.kind,
        title=f"{part.title[0].upper()}{part.title[1:]}",
        about=part.about,
        amount="" if part.amount is None else display(part.amount, order.currency, business.locale),
        verdict=str(OrderValidation(order.validation).label),
    )


# What an app did by API calls, in words for the owner of a store.


@dataclass(frozen=True, slots=True)
class Deed:
    words: str
    count: int
    last: datetime
    is_refused: bool = False
    is_change: bool = False


def deeds_of(calls: Summary) -> list[Deed]:
    """Latest first. Housekeeping is left out."""
    deeds: dict[str, Deed] = {}
    for each in calls.done:
        words = REFUSED if each.is_refused else ACTS.get((each.method, each.route)) or READS.get(each.scope)
        if words:
            earlier = deeds.get(words, Deed(words, 0, each.last))
            deeds[words] = Deed(
                words,
                earlier.count + each.count,
                max(earlier.last, each.last),
                each.is_refused,
                each.method not in ("GET", "HEAD"),
            )
    return sorted(deeds.values(), key=lambda deed: deed.last, reverse=True)
