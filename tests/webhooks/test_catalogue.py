"""The catalog against the specification, and each payload against its published schema."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator, ValidationError

from accounts.models import Business
from installations.models import Installation
from marketplace.scopes import NAMEABLE_EVENTS
from stores.models import Payment
from stores.records import OrderRecord, PaymentRecord, ProductRecord
from stores.services import orders, reviews
from stores.services.catalogue import products
from stores.services.checkout import place_order
from stores.services.history import SYSTEM
from stores.services.pricing import OrderLine, OrderRequest
from stores.signals import product_created
from tests import factories
from tests.payloads import hold_to_schemas, validate, validator_of
from tests.webhooks import helpers
from webhooks import catalogue
from webhooks.messages import payloads
from webhooks.models import Event
from webhooks.receivers import on_payment_completed, on_payment_expired
from webhooks.services.sandbox import samples

CONTRACT_FIELDS = {
    "order.created": "orderId orderNumber amount deliveryFee deliveryMethod paymentMethod isGuest createdAt",
    "order.status_changed": "orderId orderNumber previousStatus status changedAt changedFields",
    "order.delivered": "orderId orderNumber previousStatus status changedAt changedFields",
    "order.cancelled": "orderId orderNumber previousStatus status changedAt changedFields",
    "order.refunded": "orderId orderNumber amount refunded currency reason refundedAt",
    "payment.completed": "orderId orderNumber invoiceId amount paymentMethod status occurredAt",
    "payment.expired": "orderId orderNumber invoiceId amount paymentMethod status occurredAt",
    "product.created": "id name description price category isAvailable imageUrl slug status stock createdAt updatedAt",
    "product.updated": "id name description price category isAvailable imageUrl slug status stock createdAt updatedAt"
    " changedFields",
    "product.deleted": "id slug deletedAt",
    "product.out_of_stock": "productId name stock threshold",
    "product.low_stock": "productId name stock threshold",
    "product.back_in_stock": "productId name stock threshold",
    "review.created": "id productId rating comment authorName createdAt",
    "review.deleted": "id productId deletedAt",
    "installation.updated": "installationId changed settings scopes switches maxDiscountPercent paused",
    "business.data_erasure": "appId businessId uninstalledAt",
    "customer.data_erasure": "appId businessId customer orderIds reviewIds requestedAt",
    "webhook.test": "message webhookId",
}


@pytest.mark.spec("Events", "The catalog has exactly the specified event names, and webhook.test")
@pytest.mark.spec("Contract 5 Webhooks", "Each event's data has the fields of the table")
def test_catalogue_names_the_specified_events_and_fields() -> None:
    data = {name: event.data().fields for name, event in catalogue.EVENTS.items()}
    always = {
        name: [each for each, field in fields.items() if field.required] for name, fields in data.items()
    }
    assert {name: " ".join(fields) for name, fields in always.items()} == CONTRACT_FIELDS
    of_shops = {each for name, fields in data.items() for each in fields if each not in always[name]}
    assert of_shops == {"externalId", "groupId"}


@pytest.mark.spec("Contract 5 Webhooks", "order.* and payment.* need read_orders, product.*, review.* theirs")
@pytest.mark.parametrize("name", catalogue.EVENTS)
def test_scope_follows_the_event_group(name: str) -> None:
    scopes = {
        "order": "read_orders",
        "payment": "read_orders",
        "product": "read_products",
        "review": "read_reviews",
    }
    assert catalogue.EVENTS[name].scope == scopes.get(name.partition(".")[0])


@pytest.mark.parametrize("name", catalogue.EVENTS)
def test_schema_is_valid_and_fits_its_example(name: str) -> None:
    Draft202012Validator.check_schema(validator_of(name).schema)
    validate(name, catalogue.EVENTS[name].example)


def test_schema_refuses_a_missing_field_and_a_wrong_type() -> None:
    event = catalogue.EVENTS["order.created"]
    validator = validator_of("order.created")
    without_amount = {name: value for name, value in event.example.items() if name != "amount"}
    assert not validator.is_valid(without_amount)
    assert not validator.is_valid(event.example | {"amount": "28.5"})


def test_no_test_publishes_what_its_schema_refuses(
    installation: Installation, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check that every test runs under (`tests.payloads`) bites, whether somebody listens or not."""
    product = factories.product(sandbox)
    for name in ("product_created", "test_event", "data_erasure"):
        monkeypatch.setattr(payloads, name, lambda *_: {"id": 5})
    hold_to_schemas(monkeypatch)
    with pytest.raises(ValidationError):
        product_created.send(
            sender=None, product=ProductRecord.of(product, sandbox.currency), now=timezone.now()
        )
    helpers.webhook(installation, "https://app.example.com/hooks", list(catalogue.SUBSCRIBABLE))
    with pytest.raises(ValidationError):
        samples.publish_to(installation=installation, event_type="product.created", data={"id": 5})
    for build in (payloads.test_event, payloads.data_erasure):
        with pytest.raises(ValidationError):
            build(installation)  # type: ignore[operator]
    assert not Event.objects.exists()


@pytest.mark.spec("Contract 5 Webhooks", "webhook.test and app.uninstalled can't be named")
def test_internal_events_cannot_be_named() -> None:
    """All doors take the same names: apps, their pages and webhooks."""
    assert set(catalogue.EVENTS) - set(NAMEABLE_EVENTS) == {"webhook.test"}
    assert set(catalogue.SUBSCRIBABLE) == set(NAMEABLE_EVENTS)
    assert set(catalogue.ERASURES) <= set(NAMEABLE_EVENTS)


def order_events(sandbox: Business) -> None:
    tea = products.create_product(business=sandbox, name="Tea", price=1250, stock=9, low_stock_threshold=5)
    for quantity, status in ((5, "DELIVERED"), (4, "CANCELLED")):
        request = OrderRequest(
            items=[OrderLine(tea.id, quantity)],
            customer_name="Kim",
            customer_email="kim@example.com",
            delivery_method="PICKUP",
            payment_method="CASH",
        )
        order = place_order(business=sandbox, request=request)
        order = orders.change_order_status(order=order, status=status)
        if status == "DELIVERED":
            orders.record_refund(order=order, amount=500, reason="Cold", known=0, by=SYSTEM)
    products.update_product(product=tea, price=1300)
    review = reviews.create_review(product=tea, rating=5, author_name="Kim")
    reviews.delete_review(review=review)
    products.delete_product(product=tea)


def payment_events(sandbox: Business) -> None:
    order = factories.order(sandbox, payment_method="acme:wallet")
    payment = Payment.objects.create(order=order, provider="1", status="COMPLETED", invoice_id="inv-1")
    on_payment_completed(payment=PaymentRecord.of(payment, order), now=timezone.now())
    payment.status, payment.invoice_id = "EXPIRED", ""
    on_payment_expired(payment=PaymentRecord.of(payment, order), now=timezone.now())


@pytest.mark.parametrize("happen", [order_events, payment_events])
def test_each_payload_fits_its_schema(
    happen: Callable[[Business], None], installation: Installation, sandbox: Business
) -> None:
    helpers.webhook(installation, "https://app.example.com/hooks", list(catalogue.SUBSCRIBABLE))
    happen(sandbox)
    events = Event.objects.order_by("id")
    for event in events:
        validate(event.type, orjson.loads(event.data))
    expected = {name for name in catalogue.SUBSCRIBABLE if name.startswith("payment.")}
    if happen is order_events:
        expected = set(catalogue.SUBSCRIBABLE) - expected - set(catalogue.THROUGH_A_PAUSE)
    assert {event.type for event in events} == expected


def test_payloads_without_a_shop_event_fit_their_schemas(installation: Installation) -> None:
    installation.uninstalled_at = timezone.now()
    validate("business.data_erasure", payloads.data_erasure(installation))
    webhook = helpers.webhook(installation, "https://app.example.com/hooks", ["order.created"])
    validate("webhook.test", payloads.test_event(webhook))


@pytest.mark.spec("Events", "order.created carries the specified eight fields with their values")
def test_order_created_carries_the_order(installation: Installation, sandbox: Business) -> None:
    order = OrderRecord.of(factories.order(sandbox, delivery_fee=350, amount=2350))
    data = payloads.order_created(order)
    assert (data["orderId"], data["orderNumber"], data["amount"], data["deliveryFee"]) == (
        str(order.id),
        order.number,
        23.5,
        3.5,
    )


@pytest.mark.spec("Contract 9 Deliveries", "DELIVERED and CANCELLED publish both events, each once")
@pytest.mark.parametrize(
    ("status", "special"), [("DELIVERED", "order.delivered"), ("CANCELLED", "order.cancelled")]
)
def test_special_status_publishes_both_events_once(
    status: str, special: str, installation: Installation, sandbox: Business
) -> None:
    helpers.webhook(installation, "https://app.example.com/hooks", list(catalogue.SUBSCRIBABLE))
    order = factories.order(sandbox)
    orders.change_order_status(order=order, status=status)
    orders.change_order_status(order=order, status=status)
    assert sorted(Event.objects.values_list("type", flat=True)) == sorted([special, "order.status_changed"])


def test_documentation_has_the_catalogue_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "events.md").read_text()
    for event in catalogue.EVENTS.values():
        scope = f"`{event.scope}`" if event.scope else "none"
        assert f"| `{event.name}` | {scope} | {event.sentence} |" in page
