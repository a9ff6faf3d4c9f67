"""Orders with their payments, and reviews, of a shop. Later rows of an erased customer are taken without name and address."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.models import Business
from common.contacts import NotAContact, email_key, phone_key
from common.db.inserts import insert_each
from stores import signals
from stores.buyers.shoppers import note_orders, person_of
from stores.connected.changes import RowChange, RowEvent, Totals, assign
from stores.connected.mirror import KnownRows, write_again
from stores.connected.payments import OrderPayments, set_payment
from stores.enums import OrderStatus, OrderValidation, Resource
from stores.models import LINES, Order, OrderItem, Payment, Review, ShopPayment
from stores.records import OrderRecord, ReviewRecord

ORDER: Final = (
    "number", "status", "subtotal", "discount", "delivery_fee", "other_charges", "amount", "refunded", "delivery_method", "address",
    "payment_method", "customer_name", "customer_email", "customer_phone", "customer_email_key", "customer_phone_key", "note",
    "is_guest", "validation", "created_at", "updated_at",
)  # fmt: skip
REVIEW: Final = (
    "product_id",
    "rating",
    "comment",
    "author_name",
    "author_email",
    "author_email_key",
    "created_at",
)
BESIDE: Final = ("items", "payment", "attributes")  # no columns, or written by others
NAMES_A_CUSTOMER: Final = dict.fromkeys(
    ("customer_name", "customer_email", "customer_phone", "address", "note"), ""
)
NAMES_AN_AUTHOR: Final = dict.fromkeys(("author_name", "author_email", "comment"), "")
SPECIAL: Final = {OrderStatus.DELIVERED: "order.delivered", OrderStatus.CANCELLED: "order.cancelled"}


def write_orders(
    business: Business, changes: Sequence[RowChange], known: KnownRows, totals: Totals, now: datetime
) -> None:
    """Only those with values: a shop can't delete orders."""
    rows = _locked_orders(business, changes)
    erased = known.erased()
    before = {pk: (row.status, row.refunded) for pk, row in rows.items()}
    items: list[OrderItem] = []
    outdated: list[UUID] = []
    made = ShopPayment.objects.filter(business=business, order_id__in=[change.id for change in changes])
    payments = OrderPayments(made, now)
    for change in changes:
        assert change.values is not None
        if change.is_new:
            rows[change.id] = _empty(business, change, now)
        order = rows[change.id]
        columns = {name: value for name, value in change.values.items() if name not in BESIDE}
        if change.mirrored.erased_at or change.id in erased:
            columns |= NAMES_A_CUSTOMER
        if change.validation:
            columns["validation"] = change.validation
        assign(order, columns, now)
        lines = _lines(order, change.values["items"], known)
        if list(map(_content, lines)) != list(map(_content, order.lines)):
            if order.lines:
                outdated.append(order.pk)
            order.lines, order.updated_at = lines, now
            items += lines
        payment_event = payments.follow(order, change.values["payment"])
        change.events += _order_events(order, before.get(order.pk), now)
        if payment_event and not (change.is_new and payment_event.names == ["payment.expired"]):
            change.events.append(payment_event)
        if change.is_new:
            totals.add("orders", is_below_others=known.was_mentioned(order.pk))
    OrderItem.objects.filter(order__in=outdated).delete()
    write_again([rows[change.id] for change in changes if not change.is_new], ORDER)
    Order.objects.bulk_create(_new(changes, rows))
    _unfind(Order, list(rows.values()), {"customer_email": email_key, "customer_phone": phone_key})
    OrderItem.objects.bulk_create(items)
    payments.save()
    _note_people(business, _new(changes, rows), now)


def _empty(business: Business, change: RowChange, now: datetime) -> Order:
    """A new order, before its row's values are in it."""
    order = Order(
        id=change.id,
        business=business,
        external_id=change.mirrored.external_id,
        currency=business.currency,
        validation=OrderValidation.NOT_VALIDATED,
        created_at=now,
        updated_at=now,
    )
    order.lines = []
    set_payment(order, None)
    return order


def _note_people(business: Business, orders: Sequence[Order], now: datetime) -> None:
    people = [person_of(order.customer_email, order.customer_phone) for order in orders]
    insert_each(*note_orders(business_id=business.pk, people=people, now=now))


def _new(changes: Sequence[RowChange], rows: dict[UUID, Order]) -> list[Order]:
    return [rows[change.id] for change in changes if change.is_new]


def _locked_orders(business: Business, changes: Sequence[RowChange]) -> dict[UUID, Order]:
    ids = [change.id for change in changes if not change.is_new]
    if not ids:
        return {}
    found = Order.objects.filter(business=business, pk__in=ids).order_by("pk").prefetch_related(LINES)
    rows = {row.pk: row for row in found.select_for_update(no_key=True)}
    paid = {row.order_id: row for row in Payment.objects.filter(order__in=ids).select_for_update(no_key=True)}
    for row in rows.values():
        row.business = business
        set_payment(row, paid.get(row.pk))
    return rows


def _lines(order: Order, items: Sequence[dict[str, Any]], known: KnownRows) -> list[OrderItem]:
    return [
        OrderItem(
            order=order,
            product_id=known.mention(Resource.PRODUCTS, item["product"]) if item["product"] else None,
            name=item["name"],
            quantity=item["quantity"],
            price=item["price"],
        )
        for item in items
    ]


def _content(line: OrderItem) -> tuple[Any, ...]:
    return line.product_id, line.name, line.quantity, line.price


def _order_events(order: Order, before: tuple[str, int] | None, now: datetime) -> Iterator[RowEvent]:
    """`before` has the status of an order that was there, and what was refunded of it. A shop gives no reasons for refunds."""
    about: dict[str, Any] = {"order": OrderRecord.of(order), "now": now}
    if before is None:
        yield RowEvent(["order.created"], signals.order_created, Order, about)
        return
    status, refunded = before
    if status != order.status:
        special = SPECIAL.get(OrderStatus(order.status))
        names = ["order.status_changed", *([special] if special else [])]
        yield RowEvent(names, signals.order_status_changed, Order, about | {"previous": status})
    if order.refunded > refunded:
        more = {"amount": order.refunded - refunded, "reason": ""}
        yield RowEvent(["order.refunded"], signals.order_refunded, Order, about | more)


def write_reviews(
    business: Business, changes: Sequence[RowChange], known: KnownRows, totals: Totals, now: datetime
) -> None:
    ids = [change.id for change in changes if not change.is_new]
    found = Review.objects.filter(business=business, pk__in=ids).order_by("pk").select_for_update(no_key=True)
    rows = {row.pk: row for row in found} if ids else {}
    erased = known.erased()
    for change in changes:
        if change.values is None:
            about = {"review": ReviewRecord.of(rows[change.id]), "now": now}
            change.events.append(RowEvent(["review.deleted"], signals.review_deleted, Review, about))
            totals.remove("reviews")
            continue
        if change.is_new:
            rows[change.id] = Review(
                id=change.id, business=business, external_id=change.mirrored.external_id, created_at=now
            )
            totals.add("reviews", is_below_others=known.was_mentioned(change.id))
        review = rows[change.id]
        columns = {name: value for name, value in change.values.items() if name != "product"}
        columns["product_id"] = known.mention(Resource.PRODUCTS, change.values["product"])
        columns["created_at"] = columns["created_at"] or review.created_at
        if change.mirrored.erased_at or change.id in erased:
            columns |= NAMES_AN_AUTHOR
        assign(review, columns, now)
        if change.is_new:
            about = {"review": ReviewRecord.of(review), "now": now}
            change.events.append(RowEvent(["review.created"], signals.review_created, Review, about))
    for row in rows.values():
        row.business = business
    Review.objects.filter(pk__in=[change.id for change in changes if change.values is None]).delete()
    write_again([rows[each.id] for each in changes if each.values is not None and not each.is_new], REVIEW)
    Review.objects.bulk_create([rows[change.id] for change in changes if change.is_new])
    _unfind(
        Review, [rows[each.id] for each in changes if each.values is not None], {"author_email": email_key}
    )


def _unfind(model: Any, rows: Sequence[Any], keys: dict[str, Any]) -> None:
    """An address or number without a normal form is kept and shown, and finds no customer."""
    for column, key_of in keys.items():
        odd = [
            row.pk for row in rows if getattr(row, column) and not _is_contact(getattr(row, column), key_of)
        ]
        if odd:
            model.objects.filter(pk__in=odd).update(**{f"{column}_key": ""})


def _is_contact(text: str, key_of: Any) -> bool:
    try:
        key_of(text)
    except NotAContact:
        return False
    return True
