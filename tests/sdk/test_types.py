"""What a type checker finds in an app's code. `mypy --strict` has to find each mistake, and nothing else."""

from pathlib import Path

import pytest

from developers.docs.openapi.document import document
from tests.sdk.type_checker import mistakes_of
from tools import sdk_types

APP = """
from datetime import UTC, datetime

from extension_platform_sdk import AppClient, HookCall, HookRouter, WebhookEvent, WebhookRouter
from extension_platform_sdk.types import (
    CheckoutPaymentMethodsAnswer,
    CheckoutPaymentMethodsData,
    CheckoutShippingRatesAnswer,
    CheckoutShippingRatesData,
    Order,
    OrderCalculateDiscountsAnswer,
    OrderCalculateDiscountsData,
    OrderCreated,
    OrderValidateAnswer,
    OrderValidateData,
    ProductUpdated,
)

webhooks, hooks = WebhookRouter(), HookRouter()
client = AppClient("https://platform.example.com", "fbat_x")


@webhooks.on("order.created")
def ring(event: WebhookEvent[OrderCreated]) -> None:
    print(event.data["orderNumber"], event.business_id)
    event.data["number"]  # mistake: another name
    event.data["orderNumber"] + 1  # mistake: a text
    event.data.order_number  # mistake: no attribute
    event.delivery  # mistake: another name


@webhooks.on("product.updated", "product.created")
def note(event: WebhookEvent) -> None:
    print(event.data["anything"])


@webhooks.on("order.create")  # mistake: no such event
def unknown(event: WebhookEvent) -> None: ...


@webhooks.on("order.cancelled")  # mistake: the data of another event
def other(event: WebhookEvent[ProductUpdated]) -> None: ...


@hooks.on("checkout.shipping_rates")
def rate(call: HookCall[CheckoutShippingRatesData]) -> CheckoutShippingRatesAnswer:
    if call.data["subtotal"] > 5000:
        return {"fee": 0}
    if call.data["total"]:  # mistake: another name
        return {"price": 0}  # mistake: another name
    if call.data["builtInFee"] == 1:
        return {"fee": "free"}  # mistake: a number
    return {}  # mistake: no answer


@hooks.on("order.validate")
def check(call: HookCall[OrderValidateData]) -> OrderValidateAnswer:  # mistake: may end without one
    if call.data["items"][0]["quantity"] > 5:
        return {"valid": False, "reason": "At most five."}
    for item in call.data["items"]:
        item["sku"]  # mistake: another name


@hooks.on("order.calculate_discounts")  # mistake: the answer of another hook
def discount(call: HookCall[OrderCalculateDiscountsData]) -> OrderValidateAnswer:
    return {"valid": True}


@hooks.on("checkout.payment_methods")  # mistake: no answer at all
def pay(call: HookCall[CheckoutPaymentMethodsData]) -> None: ...


def work() -> Order:
    for product in client.iter_products(is_available=True, updated_since=datetime.now(UTC)):
        print(product["price"] * 2, (product["stock"] or 0) + 1)
        product["stock"] + 1  # mistake: may be None
        product["prize"]  # mistake: another name
    client.orders(status="READY", limit=10)
    client.orders(status="DONE")  # mistake: no such status
    client.products(updated_since="yesterday")  # mistake: a time
    client.products(color="red")  # mistake: no such filter
    client.create_webhook("https://app.example.com", ["order.created"])
    client.create_webhook("https://app.example.com", ["orders"])  # mistake: no such event
    client.update_webhook("1", filter={"all": [{"field": "amount", "op": "in", "value": [1, "2", True]}]})
    client.update_webhook("1", filter={"all": [{"field": "amount", "op": "like", "value": 1}]})  # mistake: no such op
    client.update_webhook("1", filter=None)
    order = client.create_order(items=[{"productId": "1", "quantity": 1}], customer={"name": "Kim"})
    client.create_order(items=[{"product": "1", "quantity": 1}], customer={"name": "Kim"})  # mistake: another name
    client.settle_payment(order["id"], "PAID")  # mistake: no such status
    for happened in client.reconcile("cursor", only=["order.created"]):
        print(happened["cursor"])
    return order
"""


@pytest.mark.slow  # some seconds
def test_checker_finds_each_mistake_and_nothing_else(tmp_path: Path) -> None:
    mistakes = {number for number, line in enumerate(APP.splitlines(), 1) if "# mistake" in line}
    assert len(mistakes) >= 20
    assert mistakes_of(tmp_path, APP) == mistakes


@pytest.mark.parametrize("language", sdk_types.LANGUAGES)
def test_types_are_those_of_the_document(language: type[sdk_types.Types]) -> None:
    assert language(document()).source() == language.file.read_text()
