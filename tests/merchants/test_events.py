"""Each act of a merchant on the pages arrives at the apps of the shop: nothing in between is replaced."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from django.test import Client

from accounts.models import Business, User
from installations.models import Installation
from stores.models import Order, Product
from stores.services.checkout import place_order
from stores.services.reviews import create_review
from tests import factories
from tests.forms import form_at, send
from tests.merchants.pages import installed, listed_app
from tests.pages import signed_in
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, is_signed, webhook
from webhooks import catalogue

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass
class Stage:
    """Mira's shop, with an app that listens to everything."""

    shop: Business
    browser: Client
    receiver: Receiver
    secret: str

    def press(self, path: str, **fields: str) -> None:
        """Send a form of the pages; it leads elsewhere once it is taken."""
        response = self.browser.post(f"/merchant/{path}", fields)
        assert response.status_code == 302, response.content

    def edit(self, product: Product, **changes: Any) -> Any:
        return send(self.browser, form_at(self.browser, f"/merchant/products/{product.pk}/"), **changes)

    def heard(self) -> list[tuple[str, dict[str, Any]]]:
        """The events that have arrived since the last look, each with its data; signed, every one."""
        before = len(self.receiver.requests)
        sent = drain()
        arrived = self.receiver.wait_for(before + sent)[before:]
        assert all(is_signed(request, self.secret) for request in arrived)
        bodies = [orjson.loads(request.body) for request in arrived]
        assert {body["businessId"] for body in bodies} <= {str(self.shop.pk)}
        return sorted((body["event"], body["data"]) for body in bodies)

    def names(self) -> list[str]:
        return [name for name, _ in self.heard()]

    def product(self, **fields: Any) -> Product:
        return factories.product(self.shop, **fields)

    def order(self, *lines: tuple[Product, int]) -> Order:
        """Placed by a shopper, which the app has heard."""
        placed = place_order(business=self.shop, request=factories.order_request(*lines))
        self.heard()
        return placed


@pytest.fixture
def stage(dana: User, mira: User, shop: Business, settings: Any) -> Iterator[Stage]:
    settings.DEBUG = True  # plain http to the receiver on this machine
    app = listed_app(dana, ["read_products", "read_orders", "read_reviews"])
    installation: Installation = installed(app, shop)
    with Receiver() as receiver:
        listening = webhook(installation, receiver.url, list(catalogue.SUBSCRIBABLE))
        yield Stage(shop, signed_in(mira), receiver, listening.secret)


NEW = {"name": "Rye", "price": "6.90", "is_available": "on", "stock": "9", "low_stock_threshold": "4"}


@pytest.mark.spec("Contract 5 Payload", "order.status_changed when the merchant's page moves an order")
def test_order_moved_on_its_page(stage: Stage) -> None:
    order = stage.order((stage.product(), 1))
    stage.press(f"orders/{order.pk}/status/", status="READY")
    [(name, data)] = stage.heard()
    assert (name, data["orderId"], data["status"]) == ("order.status_changed", str(order.pk), "READY")


@pytest.mark.spec("Contract 9 Deliveries", "DELIVERED publishes order.status_changed and order.delivered")
def test_order_delivered_on_its_page(stage: Stage) -> None:
    order = stage.order((stage.product(), 1))
    for _ in range(2):  # pressed twice, published once
        stage.press(f"orders/{order.pk}/status/", status="DELIVERED")
    assert stage.names() == ["order.delivered", "order.status_changed"]


@pytest.mark.spec("Contract 9 Deliveries", "CANCELLED publishes order.status_changed and order.cancelled")
def test_order_cancelled_on_its_page_brings_its_stock_back(stage: Stage) -> None:
    order = stage.order((stage.product(stock=2), 2))
    for _ in range(2):
        stage.press(f"orders/{order.pk}/cancel/")
    assert stage.names() == ["order.cancelled", "order.status_changed", "product.back_in_stock"]


@pytest.mark.spec("Contract 5 Payload", "product.created when the merchant adds a product")
def test_product_added(stage: Stage) -> None:
    stage.press("products/add/", **NEW)
    [(name, data)] = stage.heard()
    assert (name, data["name"], data["price"]) == ("product.created", "Rye", 6.9)


@pytest.mark.spec("Contract 5 Payload", "product.updated adds changedFields")
def test_product_edited(stage: Stage) -> None:
    bread = stage.product(name="Bread", slug="bread")
    stage.edit(bread, price="13.00", description="With seeds.")
    [(name, data)] = stage.heard()
    assert (name, data["price"], data["changedFields"]) == ("product.updated", 13, ["description", "price"])
    stage.edit(bread, price="13.00")
    assert stage.names() == []


@pytest.mark.spec("Contract 9 Orders", "Archiving publishes product.updated")
def test_product_archived_and_put_back(stage: Stage) -> None:
    bread = stage.product()
    for act in ("archive", "restore"):
        for _ in range(2):
            stage.press(f"products/{bread.pk}/{act}/")
        [(name, data)] = stage.heard()
        assert (name, data["changedFields"]) == ("product.updated", ["status"])


@pytest.mark.spec(
    "Contract 9 Orders", "product.out_of_stock, low_stock and back_in_stock by the merchant's edit"
)
@pytest.mark.parametrize(
    ("before", "after", "event"),
    [("9", "0", "out_of_stock"), ("9", "3", "low_stock"), ("0", "9", "back_in_stock"), ("9", "8", "")],
)
def test_stock_set_in_the_list_and_on_the_page(stage: Stage, before: str, after: str, event: str) -> None:
    expected = sorted(["product.updated", *([f"product.{event}"] if event else [])])
    listed = stage.product(stock=int(before), low_stock_threshold=4)
    stage.press(f"products/{listed.pk}/row/", stock=after)
    assert stage.names() == expected
    bread = stage.product(name="Bread", slug="bread", stock=int(before), low_stock_threshold=4)
    stage.edit(bread, stock=after)
    assert stage.names() == expected


@pytest.mark.spec("Contract 5 Payload", "product.deleted, and review.deleted of its reviews")
def test_product_deleted(stage: Stage) -> None:
    bread = stage.product()
    create_review(product=bread, rating=5, author_name="Ann")
    stage.heard()
    stage.press(f"products/{bread.pk}/delete/")
    assert stage.names() == ["product.deleted", "review.deleted"]


@pytest.mark.spec("Contract 5 Payload", "review.deleted when the merchant removes a review")
def test_review_removed(stage: Stage) -> None:
    review = create_review(product=stage.product(), rating=1, author_name="Kim")
    stage.heard()
    stage.press(f"reviews/{review.pk}/delete/")
    [(name, data)] = stage.heard()
    assert (name, data["id"]) == ("review.deleted", str(review.pk))


@pytest.mark.long
def test_what_a_page_refuses_is_told_to_nobody(stage: Stage) -> None:
    bread = stage.product(name="Bread", slug="bread", stock=3)
    assert stage.browser.post("/merchant/products/add/", NEW | {"price": "x"}).status_code == 422
    assert stage.edit(bread, name="").status_code == 422
    refused = stage.browser.post(f"/merchant/products/{bread.pk}/row/", {"stock": "x"})
    assert refused.status_code == 422
    assert stage.names() == []
