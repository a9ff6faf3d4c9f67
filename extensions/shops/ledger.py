"""Commands to shops, and their results (`ShopCommand`). Each is written before it is sent: one that was cut short stays SENT.

A customer who is erased is blanked in it, and old rows are deleted.
"""

from datetime import datetime
from functools import partial
from typing import Final

from django.utils import timezone

from common.http.exchanges import Exchange
from common.observability.metrics import SHOP_COMMANDS, SHOP_SECONDS
from extensions.enums import CommandOutcome
from extensions.hooks.ledger import KEPT, REQUEST_EXCERPT, excerpt, shortened
from extensions.models import ShopCommand
from extensions.shops.calling import Command
from stores.customers import Copies, blank

BATCH: Final = 1000


def begin(
    command: Command, body: bytes, now: datetime, outcome: CommandOutcome = CommandOutcome.SENT
) -> ShopCommand:
    """Keep a command that is about to be sent, or that isn't sent at all."""
    if outcome != CommandOutcome.SENT:
        SHOP_COMMANDS.labels(command.name, outcome.lower()).inc()
    is_sandbox = command.store.business.is_sandbox
    return ShopCommand.objects.create(
        command_id=command.id,
        command=command.name,
        business=command.store.business,
        installation=command.installation,
        order_id=command.order_id,
        sent_at=now,
        outcome=outcome,
        request_body=body.decode()[:REQUEST_EXCERPT] if is_sandbox else "",
    )


def settle(row: ShopCommand, outcome: CommandOutcome, message: str, exchange: Exchange | None = None) -> None:
    """Keep its result. The row may be gone with its store."""
    SHOP_COMMANDS.labels(row.command, outcome.lower()).inc()
    row.outcome, row.message = outcome, shortened(message)
    if exchange:
        SHOP_SECONDS.labels(row.command).observe(exchange.duration_ms / 1000)
        row.duration_ms, row.http_status = exchange.duration_ms, exchange.status
        # A 200 has the order with its customer.
        if row.business.is_sandbox or exchange.status != 200:
            row.answer_excerpt = excerpt(exchange.body)
    columns = ("outcome", "message", "duration_ms", "http_status", "answer_excerpt", "order_id")
    ShopCommand.objects.filter(pk=row.pk).update(**{name: getattr(row, name) for name in columns})


def first_sent_at(command: Command) -> datetime:
    """When this `commandId` went out for the first time."""
    sent = ShopCommand.objects.filter(command_id=command.id, installation=command.installation)
    tries = sent.exclude(outcome=CommandOutcome.NO_PLACE).order_by("sent_at")
    return tries.values_list("sent_at", flat=True)[0]


def remove_old(*, now: datetime | None = None) -> None:
    old = ShopCommand.objects.filter(sent_at__lt=(now or timezone.now()) - KEPT)
    while ids := list(old.order_by("sent_at").values_list("pk", flat=True)[:BATCH]):
        ShopCommand.objects.filter(pk__in=ids).delete()


def erase_customer(copies: Copies) -> None:
    """That a shop was asked, with what outcome, stays."""
    texts = ("message", "request_body", "answer_excerpt")
    rows = ShopCommand.objects.filter(business=copies.business).only("order_id", *texts)
    blank(rows, partial(_without_customer, copies))


def _without_customer(copies: Copies, row: ShopCommand) -> dict[str, str]:
    found: dict[str, str] = {}
    if copies.name(str(row.order_id), row.request_body, row.answer_excerpt):
        found |= {"request_body": "", "answer_excerpt": ""}
    if copies.words.are_in(row.message):
        found["message"] = ""
    return found
