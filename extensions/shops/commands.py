"""Asks a shop for what an app writes to its orders (contract, section 17, "Commands").

1. The command is kept with the time (`ledger.begin`), so that a repeated one knows when it was sent first.
2. It is sent, and waited for.
3. A 200 has the order's row, which is taken as that of a PUT.
4. The outcome is kept.

A process that dies after step 1 leaves a command whose result no one here knows. The app repeats its call under the same
`Idempotency-Key`, which has the same `commandId`, and the shop answers as before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, NoReturn
from uuid import UUID, uuid4, uuid5

from django.utils import timezone
from rest_framework.serializers import ValidationError

from accounts.models import Business, ConnectedStore
from common import strangers
from common.db.transactions import forbid_transaction
from common.errors import Conflict, NotFound, NotInBody, Refused, ServiceError, Unavailable, summary
from common.http.exchanges import Exchange
from common.money import to_major
from common.rest.errors import field_errors
from extensions.enums import CallOutcome, CommandOutcome, ShopCommandName
from extensions.hooks.answers import BadAnswer
from extensions.models import ShopCommand
from extensions.shops import calling, ledger
from extensions.shops.calling import Command
from installations.models import Installation
from installations.queries import owners_of
from stores import queries
from stores.buyers.attributes import Attributes
from stores.connected.bodies import SHOP_ID, read_row
from stores.connected.rows import PushedRow, take
from stores.connected.wanted import WantedRows
from stores.enums import Resource
from stores.models import MirroredRow, Order, Product
from stores.services.pricing import OrderRequest, merge

RETRY_AFTER: Final = 10  # seconds, where the shop names none
ABOUT: Final = "commands"
WANTED: Final = WantedRows(orders=True, reviews=True, orders_since=None)  # whatever came by a command

MayBe = Callable[[str], bool]  # whether the order can be the one with this id of the shop

NO_COMMANDS: Final = "The orders of this store are changed elsewhere."
NO_ANSWER: Final = (
    "The store's own software gave no usable answer, and nothing was changed here. "
    "Send the request again with the same Idempotency-Key."
)
TOO_MANY: Final = "Too many requests were waiting for slow servers, so this one didn't wait any longer."


def set_status(*, installation: Installation, order: Order, status: str, key: str) -> Order:
    """Ask the shop to move an order. Returns it as the shop has it then. `key` is the app's `Idempotency-Key`, or empty.

    Raises what `_ask` raises.
    """
    store = _store_of(order.business)
    command = Command(
        id=_id(installation, key),
        name=ShopCommandName.SET_STATUS,
        store=store,
        installation=installation,
        data={"orderId": order.external_id, "status": status},
        order_id=order.pk,
    )
    return _ask(command, lambda external_id: external_id == order.external_id)


def create_order(*, installation: Installation, request: OrderRequest, key: str) -> Order:
    """Ask the shop to place an order, whose apps it asks as at its checkout. Raises `NotFound` for a product without a row, and what
    `_ask` raises.
    """
    store = _store_of(installation.business)
    command = Command(
        id=_id(installation, key),
        name=ShopCommandName.CREATE_ORDER,
        store=store,
        installation=installation,
        data=_guest_order(store.business, request),
    )
    return _ask(command, lambda external_id: _is_new(command, external_id))


def _store_of(business: Business) -> ConnectedStore:
    stores = ConnectedStore.objects.standing().select_related("business", "system")
    store = stores.filter(pk=business.pk).first()
    if store is None or not store.system.commands_url:
        raise Conflict(NO_COMMANDS, code="store_read_only")
    return store


def _id(installation: Installation, key: str) -> UUID:
    return uuid5(installation.pk, key) if key else uuid4()


def _guest_order(business: Business, request: OrderRequest) -> dict[str, Any]:
    """The app's body with the shop's ids. Fields without a value are null."""
    lines = merge(request.items)
    ids = [line.product_id for line in lines]
    known = Product.objects.filter(business=business, pk__in=ids).values_list("pk", "external_id")
    external_ids = {pk: external_id for pk, external_id in known if external_id}
    for line in lines:
        if line.product_id not in external_ids:
            raise NotInBody(f"Product {line.product_id} not found")
    return {
        "items": [{"productId": external_ids[line.product_id], "quantity": line.quantity} for line in lines],
        "customer": {
            "name": request.customer_name,
            "email": request.customer_email or None,
            "phone": request.customer_phone or None,
        },
        "deliveryMethod": request.delivery_method,
        "address": request.address or None,
        "paymentMethod": request.payment_method,
        "promoDiscount": to_major(request.promo_discount, business.currency),
        "note": request.note or None,
    }


def _is_new(command: Command, external_id: str) -> bool:
    """Whether the order can have been placed by this command: no row of it came before the command went out for the first time."""
    rows = MirroredRow.objects.filter(business=command.store.pk, resource=Resource.ORDERS)
    row = rows.filter(external_id=external_id).first()
    return row is None or row.version is None or row.made_at >= ledger.first_sent_at(command)


# --- One command --------------------------------------------------------------------------------------


def _ask(command: Command, may_be: MayBe) -> Order:
    """The order that the shop answers with.

    Raises `NotFound`, `Conflict` or `Refused` with the shop's reason, `Unavailable` without a usable answer and for want of a place, and
    `NotFound` for a store that is ending.
    """
    forbid_transaction()
    body, who = command.body, (command.store.pk, command.installation.app_id, command.store.system_id)
    try:
        strangers.require_time(*who, about=ABOUT, is_tried=False)
    except strangers.NoPlace:
        ledger.begin(command, body, timezone.now(), CommandOutcome.NO_PLACE)
        raise
    now = timezone.now()
    row = ledger.begin(command, body, now)
    try:
        exchange = strangers.result(calling.begin(command, body, now), *who, about=ABOUT)
    except strangers.NoPlace as error:
        ledger.settle(row, CommandOutcome.UNREACHABLE, TOO_MANY)
        raise _unreachable(error.retry_after) from None
    return _answered(command, row, exchange, may_be)


def _answered(command: Command, row: ShopCommand, exchange: Exchange, may_be: MayBe) -> Order:
    judged = calling.judged(exchange)
    if judged.outcome == CommandOutcome.DONE:
        return _done(command, row, exchange, may_be)
    ledger.settle(row, judged.outcome, judged.message, exchange)
    if judged.outcome == CommandOutcome.REFUSED:
        _refuse(exchange.status, judged.message)
    raise _unreachable(judged.retry_after)


def _done(command: Command, row: ShopCommand, exchange: Exchange, may_be: MayBe) -> Order:
    """Take the row that the shop has answered with."""
    try:
        pushed = _row_of(command, exchange)
        if not may_be(pushed.external_id):
            raise BadAnswer(CallOutcome.UNEXPECTED, f"order.id: {pushed.external_id} is another order.")
        rows = with_owners(command.store.business, [pushed])
        (outcome,) = take(store=command.store, rows=rows, wanted=WANTED)
        if outcome.error:
            raise BadAnswer(CallOutcome.UNEXPECTED, outcome.error.message)
    except BadAnswer as failure:
        ledger.settle(row, CommandOutcome.UNREACHABLE, failure.problem, exchange)
        raise _unreachable() from None
    except ServiceError as error:  # of our own: the store is ending, or has another currency
        ledger.settle(row, CommandOutcome.UNREACHABLE, error.message, exchange)
        raise
    row.order_id = outcome.row_id
    ledger.settle(row, CommandOutcome.DONE, "", exchange)
    return queries.order_by_id(command.store.business, outcome.row_id)


def _row_of(command: Command, exchange: Exchange) -> PushedRow:
    """The order's row of an answer. Raises `BadAnswer` for one that a PUT would refuse."""
    order = calling.document_of(exchange).get("order")
    if not isinstance(order, Mapping):
        raise BadAnswer(CallOutcome.UNEXPECTED, "order: Required, an object.")
    external_id = order.get("id")
    if not isinstance(external_id, str) or SHOP_ID.fullmatch(external_id) is None:
        raise BadAnswer(CallOutcome.UNEXPECTED, "order.id: Must be the shop's id of the order.")
    fields = {name: value for name, value in order.items() if name != "id"}
    try:
        return read_row(Resource.ORDERS, external_id, fields, command.store.business.currency)
    except ValidationError as error:
        problem = summary(list(field_errors(error.detail)))
    raise BadAnswer(CallOutcome.UNEXPECTED, f"order: {problem}")


def _refuse(status: int | None, message: str) -> NoReturn:
    match status:
        case HTTPStatus.NOT_FOUND:
            raise NotFound(message, code="shop_not_found")
        case HTTPStatus.CONFLICT:
            raise Conflict(message, code="shop_conflict")
    raise Refused(message, code="shop_refused")


def _unreachable(retry_after: int | None = None) -> Unavailable:
    seconds = RETRY_AFTER if retry_after is None else retry_after
    return Unavailable(NO_ANSWER, retry_after=seconds, code="shop_unreachable")


# --- Attributes: shops know apps by their slugs (contract, section 23, "Connected stores") ---


def owned(business: Business, by_slug: Mapping[str, Attributes] | None) -> dict[str, Attributes] | None:
    """By the ids of apps, as `stores` has them. Those of apps that aren't installed are left out."""
    if by_slug is None:
        return None
    owners = owners_of(business, list(by_slug))
    return {owners[slug]: own for slug, own in by_slug.items() if slug in owners}


def with_owners(business: Business, rows: Sequence[PushedRow]) -> list[PushedRow]:
    """Rows whose attributes are by the ids of apps. One statement, or none."""
    slugs = {slug for row in rows for slug in row.attributes or ()}
    owners = owners_of(business, list(slugs))
    return [
        replace(row, attributes={owners[slug]: own for slug, own in row.attributes.items() if slug in owners})
        if row.attributes
        else row
        for row in rows
    ]
