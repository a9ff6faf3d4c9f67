"""The app on a store of the platform: a card from its first stamp to the erasure of everything."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cards
import known_stores
import signed
from conftest import Send
from extension_platform_sdk.testing import TestStore

KIM = {"email": "kim@bücher.example"}
SPELLINGS = [
    "kim@bücher.example", "Kim@bücher.example", "KIM@BÜCHER.EXAMPLE", "kim@BÜCHER.example", "kim@Bücher.Example",
    "kim@xn--bcher-kva.example", "kim@XN--BCHER-KVA.example", "Kim@Xn--Bcher-Kva.Example", "kim@ｂücher.example",
]  # fmt: skip


def wait_until(condition: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "This took too long."
        time.sleep(0.1)


def key_of(store: TestStore, placed: dict[str, Any]) -> str:
    found = store.client.order(placed["data"]["orderId"])["customer"]["key"]
    assert found
    return found


def test_card_fills_is_spent_and_goes(store: TestStore, send: Send, kept: Path) -> None:
    known_stores.keep(store.installation)

    def card(shopper: str) -> cards.Card:
        return cards.card(store.business_id, shopper)

    def discount(shopper: str, *, proven: bool) -> int:
        who = {"key": shopper, "proven": proven}
        call = signed.hook_call(
            "order.calculate_discounts", shopper=who, request="r-1", store=store.installation
        )
        return int(send("/webhooks/hooks", *call)[1]["discount"])

    placed = [store.place_order(email=spelling) for spelling in SPELLINGS]
    kim = key_of(store, placed[0])
    of_ada = key_of(store, store.place_order(email="ada@example.com"))
    wait_until(lambda: card(kim)["free"] == 1 and card(of_ada)["stamps"] == 1)
    assert (discount(kim, proven=True), discount(kim, proven=False), discount(of_ada, proven=True)) == (
        1200,
        0,
        0,
    )
    store.change("order.refunded")  # of the newest order, which is Ada's
    wait_until(lambda: card(of_ada)["stamps"] == 0)
    store.change("order.refunded")  # of the one before
    wait_until(lambda: card(kim) == {"stamps": 8, "of": 9, "free": 0})

    store.uninstall()
    store.install()
    known_stores.keep(store.installation)
    again = key_of(store, placed[0])
    assert again != kim
    wait_until(lambda: card(again)["stamps"] == 8)
    assert card(kim)["stamps"] == 0

    store.erase(**KIM)
    store.wait_for("customer.data_erasure")
    assert card(again)["stamps"] == 0
    files = [file.read_bytes() for file in kept.iterdir()]
    for each in (kim, again, *(order["data"]["orderId"] for order in placed)):
        assert all(each.encode() not in file for file in files)

    store.uninstall()
    store.advance(hours=48)
    store.wait_for("business.data_erasure")
    assert all(store.installation.access_token.encode() not in file.read_bytes() for file in kept.iterdir())
