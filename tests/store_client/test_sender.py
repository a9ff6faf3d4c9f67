"""What the client's outbox and sender promise, whatever fails in between."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from extension_platform_store import Sender, StoreClient

from accounts.models import ConnectedStore
from accounts.services import shops
from stores.models import Order, Product
from tests import factories
from tests.store_client.small_shop import SmallShop
from webhooks.models import Event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]
SPEC = "Contract 17 Connected stores"


def push(sender: Sender) -> None:
    while sender.step():
        pass


def events() -> list[str]:
    return list(Event.objects.order_by("id").values_list("type", flat=True))


@pytest.fixture
def reading(sender: Sender, connected: shops.Connected) -> Any:
    """An app that reads everything is installed."""
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    return factories.installation(app, ConnectedStore.objects.get().business)


@pytest.mark.spec(SPEC, "Client: a mark is committed with its change, or not at all")
def test_mark_rolls_back_with_its_transaction(shop: SmallShop) -> None:
    with suppress(RuntimeError), shop.outbox.atomic():
        shop.put("rye", "Rye bread")
        raise RuntimeError
    assert shop.outbox.waiting().marks == 0
    shop.put("rye", "Rye bread")
    assert shop.outbox.waiting().marks == 1


@pytest.mark.spec(SPEC, "Client: killed between push and note, the row is unchanged the second time")
def test_row_that_is_pushed_twice_has_one_event(
    sender: Sender, shop: SmallShop, reading: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    shop.put("rye", "Rye bread")
    with monkeypatch.context() as patch:
        patch.setattr(shop.outbox, "kept", die)
        with pytest.raises(KeyboardInterrupt):
            push(sender)
    assert shop.outbox.waiting().marks == 1
    push(sender)
    assert (shop.outbox.waiting().marks, events()) == (0, ["product.created"])


@pytest.mark.spec(SPEC, "Client: a quiet mark that a loud one overtakes publishes the event of that one")
def test_quiet_mark_overtaken_by_a_loud_one_publishes(sender: Sender, shop: SmallShop, reading: Any) -> None:
    shop.put("rye", "Rye bread")
    push(sender)
    shop.outbox.mark("products", "rye", quiet=True)

    def overtake() -> None:
        shop.reading = lambda: None
        shop.put("rye", "Rye loaf")

    shop.reading = overtake
    push(sender)
    assert events() == ["product.created", "product.updated"]


@pytest.mark.spec(SPEC, "Client: a refused row, or one that the shop can't make, keeps no other back")
def test_bad_rows_keep_no_others_back(
    sender: Sender, shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    product = shop._product  # noqa: SLF001 - a shop whose code fails for one row
    monkeypatch.setattr(shop, "_product", lambda row_id: {}["price"] if row_id == "oat" else product(row_id))
    shop.put("dear", "Gold bread", price=-1)
    for name in ("oat", "rye", "spelt"):
        shop.put(name, name)
    push(sender)
    assert sorted(Product.objects.values_list("name", flat=True)) == ["rye", "spelt"]
    [(resource, row_id, reason)] = shop.outbox.refused()
    assert (resource, row_id) == ("products", "dear")
    assert "price" in reason
    assert shop.outbox.waiting().marks == 1  # "oat" is tried again
    shop.put("dear", "Gold bread", price=1)
    push(sender)
    assert shop.outbox.refused() == []


@pytest.mark.spec(SPEC, "Client: a version that has another content there gets a new one")
def test_version_that_is_taken_gets_a_new_one(sender: Sender, shop: SmallShop, client: StoreClient) -> None:
    shop.put("rye", "Rye bread")
    push(sender)
    [(_, kept)] = shop.outbox.versions("products")
    ahead = kept + 10_000_000
    shop.outbox._clock = lambda: ahead / 1000  # noqa: SLF001 - the version that the next push has
    client.push(
        [{"resource": "products", "id": "rye", "version": ahead, "data": {"name": "Other", "price": 1}}]
    )
    shop.put("rye", "Rye loaf")
    push(sender)
    assert Product.objects.get().name == "Rye loaf"
    assert shop.outbox.versions("products") == [("rye", ahead + 1)]


@pytest.mark.spec(
    SPEC, "Client: an order that is placed just after an install has its event, though wanted is older"
)
def test_order_placed_before_the_sender_knows_of_the_install(
    sender: Sender, shop: SmallShop, connected: shops.Connected, client: StoreClient
) -> None:
    now = datetime.now(UTC)
    shop.place("1000", now - timedelta(days=1))
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    factories.installation(app, ConnectedStore.objects.get().business)
    shop.place("1001", now)
    sender.step()  # its look is some seconds old
    assert not Order.objects.exists()
    sender._clock = shop.outbox._clock = lambda: datetime.now(UTC).timestamp() + 3  # noqa: SLF001
    push(sender)
    assert sorted(Order.objects.values_list("number", flat=True)) == ["1000", "1001"]
    assert "order.created" in events()


@pytest.mark.spec(SPEC, "Client: no order is sent while no app may read one")
def test_order_that_nobody_reads_is_not_sent(
    sender: Sender, shop: SmallShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(sender._client, "push", lambda rows, **_: sent.extend(rows))  # noqa: SLF001
    shop.place("1001", datetime.now(UTC))
    sender._clock = shop.outbox._clock = lambda: datetime.now(UTC).timestamp() + 3  # noqa: SLF001
    push(sender)
    sender._clock = shop.outbox._clock = lambda: datetime.now(UTC).timestamp() + 9  # noqa: SLF001
    push(sender)
    assert (sent, shop.outbox.waiting().marks) == ([], 0)


@pytest.mark.spec(SPEC, "Client: the comparison finds what was never marked, and both sides are equal")
def test_comparison_finds_what_was_not_marked(sender: Sender, shop: SmallShop, client: StoreClient) -> None:
    for name in ("oat", "rye", "spelt"):
        shop.put(name, name)
    push(sender)
    with shop.connection:
        shop.connection.execute("UPDATE product SET name = 'Oat loaf' WHERE id = 'oat'")
        shop.connection.execute("DELETE FROM product WHERE id = 'rye'")
        shop.connection.execute("INSERT INTO product VALUES ('emmer', 'Emmer', 5, 1)")
    found = sender.compare(["products"])
    assert found["products"]["unmarked"] == 3
    push(sender)
    assert sorted(Product.objects.values_list("name", flat=True)) == ["Emmer", "Oat loaf", "spelt"]
