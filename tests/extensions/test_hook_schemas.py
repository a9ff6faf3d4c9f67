"""The hooks' schemas against the specification's table, and against what the shop really asks."""

from contextlib import ExitStack
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from accounts.models import Business
from extensions.hooks.schemas import ANSWER_SCHEMAS, REQUEST_SCHEMAS, request_body
from stores import hookpoints
from stores.hookpoints import Flow, HookPoint, HookRequest
from stores.services.pricing import OrderLine
from tests import factories

# The specification's table "Hook points"; an optional field has a question mark.
ASKED = {
    "checkout.payment_methods": "businessId",
    "checkout.create_payment": "orderId amount currency paymentMethodId businessId description",
    "checkout.shipping_rates": "deliveryMethod locality? subtotal builtInFee",
    "order.validate": "items subtotal deliveryMethod",
    "order.calculate_discounts": "items subtotal promoDiscount deliveryFee",
}
ANSWERED = {
    "checkout.payment_methods": "methods",
    "checkout.create_payment": "paymentUrl? qrCode? invoiceId? expiresAt?",
    "checkout.shipping_rates": "fee",
    "order.validate": "valid reason?",
    "order.calculate_discounts": "discount reason?",
}


def fields(schema: dict[str, Any]) -> str:
    return " ".join(name if name in schema["required"] else f"{name}?" for name in schema["properties"])


def check(schema: dict[str, Any], value: Any) -> None:
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


@pytest.mark.spec("Events", "Hook calls carry and expect exactly the fields of the table of hook points")
def test_every_point_has_the_specified_fields() -> None:
    assert {str(point): fields(schema) for point, schema in REQUEST_SCHEMAS.items()} == ASKED
    assert {str(point): fields(schema) for point, schema in ANSWER_SCHEMAS.items()} == ANSWERED
    method = ANSWER_SCHEMAS[HookPoint.PAYMENT_METHODS]["properties"]["methods"]["items"]
    assert fields(method) == "id name description? icon?"


@pytest.mark.parametrize("point", HookPoint)
def test_schema_is_valid_and_fits_its_example(point: HookPoint) -> None:
    for schema in (REQUEST_SCHEMAS[point], ANSWER_SCHEMAS[point], request_body(point)):
        Draft202012Validator.check_schema(schema)
        check(schema, schema["examples"][0])


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("checkout.shipping_rates", {"fee": -1}),
        ("checkout.shipping_rates", {"fee": 2.5}),
        ("checkout.shipping_rates", {"fee": "250"}),
        ("checkout.shipping_rates", {"fee": True}),
        ("checkout.shipping_rates", {}),
        ("order.calculate_discounts", {"discount": -1}),
        ("order.calculate_discounts", {"discount": 1, "reason": 5}),
        ("order.validate", {"valid": "no"}),
        ("order.validate", {"reason": "closed"}),
        ("checkout.payment_methods", {"methods": {}}),
        ("checkout.payment_methods", {"methods": [{"id": "a"}]}),
        ("checkout.payment_methods", {"methods": [{"id": "", "name": "A"}]}),
        ("checkout.create_payment", {"expiresAt": "soon"}),
        ("checkout.create_payment", []),
    ],
)
def test_answer_of_the_wrong_shape_does_not_fit(point: str, answer: Any) -> None:
    with pytest.raises(ValidationError):
        check(ANSWER_SCHEMAS[HookPoint(point)], answer)


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        ("checkout.create_payment", {}),
        ("checkout.create_payment", {"paymentUrl": None, "extra": 1}),
        ("checkout.payment_methods", {"methods": []}),
        ("order.validate", {"valid": True}),
        ("checkout.shipping_rates", {"fee": 0}),
    ],
)
def test_answer_may_leave_out_what_is_optional_and_add_what_is_unknown(
    point: str, answer: dict[str, Any]
) -> None:
    check(ANSWER_SCHEMAS[HookPoint(point)], answer)


def test_what_the_shop_asks_fits_the_schemas(shop: Business) -> None:
    asked: dict[HookPoint, dict[str, Any]] = {}

    def note(question: HookRequest) -> None:
        asked[question.point] = question.data
        raise LookupError("heard, not answered")

    lines, flow = [OrderLine(factories.product(shop).pk, 2)], Flow.start()
    order = factories.order(shop, payment_method="acme:wallet")
    basket: dict[str, Any] = {"business": shop, "lines": lines, "subtotal": 2500, "flow": flow}
    delivery: dict[str, Any] = {"business": shop, "subtotal": 2500, "built_in_fee": 0}
    with ExitStack() as stack:
        for point in HookPoint:
            stack.enter_context(hookpoints.registered(point, note))
        hookpoints.ask_payment_methods(business=shop)
        hookpoints.ask_create_payment(order=order)
        hookpoints.ask_shipping_fee(**delivery, delivery_method="DELIVERY", locality="Almaty")
        hookpoints.ask_verdict(**basket, delivery_method="PICKUP")
        hookpoints.ask_discount(**basket, promo_discount=0, delivery_fee=350)
    assert set(asked) == set(HookPoint)
    for point, data in asked.items():
        check(REQUEST_SCHEMAS[point], data)
        assert set(data) == set(REQUEST_SCHEMAS[point]["properties"])
