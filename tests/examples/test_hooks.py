"""What the sample app answers at the five hook points, and its checkout in Node by the same rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_until

from .driver import ROOT, SampleApp
from .node import HAS_NODE, checkout_app
from .stores import Store, install

IN_NODE = pytest.param("node", marks=pytest.mark.skipif(not HAS_NODE, reason="needs Node 20 or newer"))

ORDER = {"subtotal": 2000, "deliveryMethod": "DELIVERY"}
BASKET = {"subtotal": 1999, "promoDiscount": 0, "deliveryFee": 350}


def items(*quantities: int) -> list[dict[str, Any]]:
    return [{"productId": f"p-{index}", "quantity": each} for index, each in enumerate(quantities)]


@pytest.fixture(params=["python", IN_NODE])
def store(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Iterator[Store]:
    """A store that has the app, and either of its servers."""
    if request.param == "python":
        yield store
        return
    installation = store.platform.installations[store.token]
    with checkout_app(
        tmp_path,
        PLATFORM_URL=store.platform.url,
        ACCESS_TOKEN=store.token,
        BUSINESS_ID=installation["businessId"],
        WEBHOOK_SECRET=installation["webhookSecret"],
    ) as url:
        yield replace(store, app=SampleApp(url, lambda: None))


def test_both_have_the_same_settings_and_hooks() -> None:
    python, node = (
        json.loads((ROOT / "examples" / name / "manifest.json").read_text())
        for name in ("sample_app", "checkout_node")
    )
    assert node == {name: python[name] for name in ("settingsSchema", "hooks")}


@pytest.mark.spec("Events/Hook calls", "checkout.payment_methods: methods with id, name, description, icon")
def test_bell_pay_is_offered(store: Store) -> None:
    answer = store.hook("checkout.payment_methods", businessId=store.business_id)
    assert answer == {
        "methods": [
            {
                "id": "bell-pay",
                "name": "Bell Pay",
                "description": "Pay on a page of Order Bell. No real money moves.",
                "icon": f"{store.app.url}/static/bell.svg",
            }
        ]
    }
    assert store.get("/static/bell.svg").headers["Content-Type"].startswith("image/svg+xml")


@pytest.mark.spec("Events/Hook calls", "checkout.shipping_rates: fee in minor units overrides builtInFee")
@pytest.mark.parametrize(
    ("method", "subtotal", "own", "fee"),
    [("DELIVERY", 2999, 350, 350), ("DELIVERY", 3000, 350, 0), ("PICKUP", 2999, 0, 0)],
)
def test_delivery_is_free_from_an_amount(
    store: Store, method: str, subtotal: int, own: int, fee: int
) -> None:
    asked = {"deliveryMethod": method, "subtotal": subtotal, "builtInFee": own}
    assert store.hook("checkout.shipping_rates", **asked) == {"fee": fee}


@pytest.mark.long
@pytest.mark.spec("Events/Hook calls", "order.validate: valid, and a reason shown to the customer")
def test_too_many_of_one_product_are_refused_with_a_reason(store: Store) -> None:
    assert store.hook("order.validate", items=items(12, 12), **ORDER) == {"valid": True}
    refused = store.hook("order.validate", items=items(1, 13), **ORDER)
    assert refused == {"valid": False, "reason": "At most 12 pieces of one product in an order, please."}


@pytest.mark.spec("Events/Hook calls", "order.calculate_discounts: discount in minor units with a reason")
def test_three_pieces_are_cheaper(store: Store) -> None:
    assert store.hook("order.calculate_discounts", items=items(1, 1), **BASKET) == {"discount": 0}
    answer = store.hook("order.calculate_discounts", items=items(2, 1), **BASKET)
    assert answer == {"discount": 199, "reason": "10% off from 3 pieces"}
    promoted = BASKET | {"promoDiscount": 999}
    assert store.hook("order.calculate_discounts", items=items(3), **promoted)["discount"] == 100


@pytest.mark.long
@pytest.mark.spec("Contract 6 Extensions", "The merchant's settings of an app change what its hooks answer")
def test_merchants_settings_change_the_checkout(store: Store) -> None:
    assert store.hook("checkout.payment_methods", businessId=store.business_id)["methods"]
    store.platform.settings = {
        "bellPay": False,
        "freeDeliveryFrom": 0,
        "discountFromPieces": 2,
        "discountPercent": 12.5,
        "mostOfOneProduct": 2,
    }
    wait_until(lambda: not store.hook("checkout.payment_methods", businessId=store.business_id)["methods"])
    asked = {"deliveryMethod": "DELIVERY", "subtotal": 10**9, "builtInFee": 350}
    assert store.hook("checkout.shipping_rates", **asked) == {"fee": 350}
    answer = store.hook("order.calculate_discounts", items=items(2), **BASKET)
    assert answer == {"discount": 249, "reason": "12.5% off from 2 pieces"}
    assert not store.hook("order.validate", items=items(3), **ORDER)["valid"]


@pytest.mark.long
def test_settings_are_asked_for_once_while_a_shopper_checks_out(store: Store) -> None:
    asked = store.platform.calls.count("GET /app-api/installation")
    for _ in range(5):
        store.hook("order.validate", items=items(1), **ORDER)
    assert store.platform.calls.count("GET /app-api/installation") == asked + 1


@pytest.mark.long
def test_platform_that_does_not_answer_leaves_the_rules_as_they_were(store: Store) -> None:
    store.platform.settings = {"mostOfOneProduct": 2}
    assert not store.hook("order.validate", items=items(3), **ORDER)["valid"]
    store.platform.broken = True
    calls = len(store.platform.calls)
    wait_until(
        lambda: store.hook("order.validate", items=items(1), **ORDER) and len(store.platform.calls) > calls
    )
    assert not store.hook("order.validate", items=items(3), **ORDER)["valid"]


@pytest.mark.spec(
    "Contract 6 Extensions", "Hooks are called with the installation's webhook secret as the key"
)
def test_hook_call_with_another_stores_secret_is_refused(store: Store) -> None:
    other = store.platform.installations[install(store.platform)]["webhookSecret"]
    for how in ({"secret": other}, {"secret": "whsec_test_guess"}, {"age": 400}):
        answer = store.platform.call_hook(store.app.url, store.token, "order.validate", {"items": []}, **how)
        assert answer.status_code == 401
    store.platform.installations[store.token]["businessId"] = "unknown"
    answer = store.platform.call_hook(store.app.url, store.token, "order.validate", {"items": []})
    assert answer.status_code == 401


def test_other_hook_points_and_odd_data_are_errors_of_their_own(store: Store) -> None:
    def status(point: str, data: dict[str, Any]) -> int:
        return store.platform.call_hook(store.app.url, store.token, point, data).status_code

    assert status("checkout.gift_wrap", {}) == 404
    assert status("order.validate", {}) == 500
    assert store.get("/webhooks/hooks").status_code == 405
