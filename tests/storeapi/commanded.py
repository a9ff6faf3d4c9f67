"""A shop that apps' orders are asked of, and what it answers."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from django.test import Client

from accounts.models import ShopSystem
from accounts.services import shops
from extensions.models import ShopCommand
from stores.models import Order
from tests.receivers import Answer, Receiver
from tests.storeapi.rows import ORDER


@pytest.fixture
def asked(connected: shops.Connected, settings: Any) -> Iterator[Receiver]:
    """The shop's server, at the connection's `commands` URL."""
    settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        ShopSystem.objects.filter(pk=connected.system.pk).update(commands_url=f"{running.url}commands")
        yield running


def order(id_: str = "o-1", version: int = 2, **fields: Any) -> Answer:
    """200 with an order's row; `fields` replace some."""
    row = ORDER | {"id": id_, "version": version} | fields
    return Answer(body=orjson.dumps({"order": row}))


def refusal(status: int, message: Any, **how: Any) -> Answer:
    return Answer(status=status, body=orjson.dumps({"message": message}), **how)


def move(api: Client, status: str = "CONFIRMED", *, key: str = "", of: Order | None = None) -> Any:
    moved = of or Order.objects.get()
    path = f"/app-api/orders/{moved.pk}/status"
    return api.patch(path, {"status": status}, content_type="application/json", headers=_key(key))


def place(api: Client, *products: Any, key: str = "", **fields: Any) -> Any:
    """POST a guest order of one of each product."""
    body = guest_order(*products) | fields
    return api.post("/app-api/orders", body, content_type="application/json", headers=_key(key))


def guest_order(*products: Any) -> dict[str, Any]:
    return {
        "items": [{"productId": str(getattr(each, "pk", each)), "quantity": 1} for each in products],
        "customer": {"name": "Kim Lee", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
        "promoDiscount": 0.5,
    }


def _key(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key} if key else {}


def outcomes() -> list[tuple[str, str]]:
    """Of the commands that are kept, the oldest first."""
    return list(ShopCommand.objects.order_by("sent_at", "id").values_list("command", "outcome"))
