"""Notifies shops of the results of payments that apps made for their orders (contract, section 17, "Hooks").

`stores.connected.payments` plans a notification, in the transaction of the change: the payment's `command_id`, `tell_since`, and
`tell_at`. A run here takes these steps for each that is due:

1. A lease on the payment, so that one run has it, and the count of its tries.
2. The command goes out with the payment's status as it is now.
3. A 200 or a 409 ends it; otherwise the next try is planned. If the status has changed meanwhile, that is sent next.

If the process dies, the lease ends, and the next run sends the same under the same `commandId`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Final
from uuid import UUID

from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import Business
from common.db.leases import held, take
from common.db.rows import for_each
from common.http.exchanges import Exchange
from common.http.transport import Coming
from extensions.enums import CommandOutcome, ShopCommandName
from extensions.models import ShopCommand
from extensions.shops import calling, ledger
from extensions.shops.calling import Command
from installations.models import Installation
from stores.models import ShopPayment
from webhooks.engine.retry import next_attempt_at, requested_wait

LEASE: Final = timedelta(seconds=30)  # longer than a call
AT_ONCE: Final = 50
OF_ONE_SHOP: Final = 10  # at once: one that hangs leaves others their turn
LONGEST: Final = 60.0  # seconds of a run
AFTER_THE_SCHEDULE: Final = timedelta(hours=1)
FOR: Final = timedelta(days=1)
HEARD: Final = (200, 409)


@dataclass(frozen=True, slots=True)
class Telling:
    """One that is under way. `until` is the end of its lease."""

    payment: ShopPayment
    until: datetime
    row: ShopCommand
    answer: Coming


def tell_due(*, now: datetime | None = None) -> int:
    """Tell what is due, for about a minute at most. Returns how many shops were asked."""
    asked, end = 0, monotonic() + LONGEST
    while monotonic() < end and (found := _due(now or timezone.now())):
        begun: list[Telling] = []
        for_each(found, partial(_begin, begun, now or timezone.now()), task="tell_shops")
        for_each(begun, partial(_end, now=now), task="tell_shops")
        asked += len(begun)
        if now is not None:
            break
    return asked


def bring_forward(*, business: Business, by: timedelta) -> None:
    """Of a store for tests: let its shop be notified earlier by so much."""
    waiting = ShopPayment.objects.filter(business=business, tell_at__isnull=False)
    waiting.update(tell_at=F("tell_at") - by, tell_since=F("tell_since") - by)


def _due(now: datetime) -> list[UUID]:
    """Our ids of orders, the longest due first, with a few of each shop."""
    turn = Window(
        RowNumber(), partition_by=F("business__connected__system"), order_by=[F("tell_at"), F("pk")]
    )
    free = Q(tried_until=None) | Q(tried_until__lte=now)
    due = ShopPayment.objects.filter(free, tell_at__lte=now, business__connected__ending_since=None)
    of_each = due.annotate(turn=turn).filter(turn__lte=OF_ONE_SHOP).order_by("tell_at", "pk")
    return list(of_each.values_list("order_id", flat=True)[:AT_ONCE])


def _begin(begun: list[Telling], now: datetime, order_id: UUID) -> None:
    of_order = ShopPayment.objects.filter(order_id=order_id)
    until = take(of_order.filter(tell_at__lte=now), lasts=LEASE, now=now, told_times=F("told_times") + 1)
    if until is None:
        return
    payment = of_order.select_related("business__connected__system").get()
    command = _command(payment)
    if command is None:
        held(of_order, until).update(tell_at=None, tried_until=None)
        return
    body, sent = command.body, timezone.now()
    row = ledger.begin(command, body, sent)
    begun.append(Telling(payment, until, row, calling.begin(command, body, sent)))


def _command(payment: ShopPayment) -> Command | None:
    """None for a shop that doesn't accept commands any more."""
    store = payment.business.connected
    apps = Installation.objects.filter(business=payment.business, app_id=payment.provider).with_app()
    installation = apps.order_by("-installed_at").first()
    if not store.system.commands_url or installation is None or payment.command_id is None:
        return None
    installation.business = store.business = payment.business
    return Command(
        id=payment.command_id,
        name=ShopCommandName.SET_PAYMENT,
        store=store,
        installation=installation,
        data={
            "orderId": payment.order_external_id,
            "invoiceId": payment.invoice_id or None,
            "status": payment.status,
            "reference": payment.reference or None,
        },
        order_id=payment.order_id,
    )


def _end(telling: Telling, now: datetime | None) -> None:
    exchange = telling.answer.result()
    judged = calling.judged(exchange)
    is_heard = exchange.status in HEARD
    outcome = judged.outcome
    if is_heard:
        outcome = CommandOutcome.DONE if exchange.status == 200 else CommandOutcome.REFUSED
    ledger.settle(telling.row, outcome, judged.message, exchange)
    payment = telling.payment
    mine = held(ShopPayment.objects.filter(pk=payment.pk), telling.until)
    tell_at = None if is_heard else _next(payment, exchange, now or timezone.now())
    mine.filter(command_id=payment.command_id).update(tell_at=tell_at, tried_until=None)
    mine.update(tried_until=None)  # of one that has another status meanwhile, which is sent next


def _next(payment: ShopPayment, exchange: Exchange, now: datetime) -> datetime | None:
    """When it is tried again; None once a day is over."""
    wait = requested_wait(exchange.status, exchange.headers.get("retry-after"), now)
    planned = next_attempt_at(attempts_made=payment.told_times, failed_at=now, retry_after=wait)
    planned = planned or now + AFTER_THE_SCHEDULE
    begun = payment.tell_since or now
    return planned if planned <= begun + FOR else None
