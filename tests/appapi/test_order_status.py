"""From each status to each, over HTTP, with the events that follow."""

import orjson
import pytest
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from stores.enums import OrderStatus
from stores.models import Product
from stores.services.checkout import place_order
from tests import factories
from tests.factories import order_request
from tests.webhooks import helpers
from webhooks.models import Event

# What the contract allows, written out; nothing leaves the last two.
MOVES = {
    "PENDING": ["CONFIRMED", "PREPARING", "READY", "IN_DELIVERY", "DELIVERED", "CANCELLED"],
    "CONFIRMED": ["PREPARING", "READY", "IN_DELIVERY", "DELIVERED", "CANCELLED"],
    "PREPARING": ["READY", "IN_DELIVERY", "DELIVERED", "CANCELLED"],
    "READY": ["IN_DELIVERY", "DELIVERED", "CANCELLED"],
    "IN_DELIVERY": ["DELIVERED", "CANCELLED"],
    "DELIVERED": [],
    "CANCELLED": [],
}
SPECIAL = {"DELIVERED": ["order.delivered"], "CANCELLED": ["order.cancelled"]}
EVENTS = ["order.status_changed", "order.delivered", "order.cancelled", "product.back_in_stock"]


def test_table_has_every_status() -> None:
    assert list(MOVES) == OrderStatus.values


@pytest.mark.spec(
    "Order status", "Each of the 49 pairs: forward moves, cancelling, the same status; else 409"
)
@pytest.mark.spec("Contract 9 Deliveries", "DELIVERED and CANCELLED publish both events, each once")
@pytest.mark.parametrize("target", OrderStatus.values)
@pytest.mark.parametrize("current", OrderStatus.values)
def test_each_pair(
    current: str, target: str, api: Client, installation: Installation, sandbox: Business
) -> None:
    product = factories.product(sandbox, stock=2)
    placed = place_order(business=sandbox, request=order_request((product, 2)))
    type(placed).objects.filter(pk=placed.pk).update(status=current)
    helpers.webhook(installation, "https://app.example.com/", EVENTS)
    Event.objects.all().delete()  # those of placing it
    before = api.get(f"/app-api/orders/{placed.pk}").json()

    answer = api.patch(
        f"/app-api/orders/{placed.pk}/status", {"status": target}, content_type="application/json"
    )

    moves = target in MOVES[current]
    assert answer.status_code == (200 if moves or target == current else 409)
    after = api.get(f"/app-api/orders/{placed.pk}").json()
    if answer.status_code == 200:
        assert answer.json() == after
    if moves:
        assert after.pop("updatedAt") > before.pop("updatedAt")
        assert after == before | {"status": target}
    else:
        assert after == before

    back = moves and target == "CANCELLED"
    assert Product.objects.get().stock == (2 if back else 0)
    told = ["order.status_changed", *SPECIAL.get(target, [])] if moves else []
    events = list(Event.objects.order_by("id"))
    assert [event.type for event in events] == told + (["product.back_in_stock"] if back else [])
    for event in events[: len(told)]:
        data = orjson.loads(event.data)
        assert data.pop("changedAt") == answer.json()["updatedAt"]
        assert data == {
            "orderId": str(placed.pk),
            "orderNumber": placed.number,
            "previousStatus": current,
            "status": target,
            "changedFields": ["status"],
        }
