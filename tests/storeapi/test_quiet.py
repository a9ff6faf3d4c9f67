"""What a mirrored row sets off, and what not (contract, section 17, "Events" and "Commands")."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import ConnectedStore, Mail
from accounts.services import shops
from accounts.services.deletion import obstacles_of
from stores.models import MerchantNews, Order, Payment, Product
from stores.services.payments import expire_payments
from stores.tasks import mail_merchants, send_waiting_mails
from tests import factories
from tests.clients import client_of, shop_client
from tests.merchants.pages import installed, listed_app
from tests.storeapi.people import person_in
from tests.storeapi.rows import MAIN, put, result
from webhooks.models import Event

pytestmark = pytest.mark.django_db

KIM = {"name": "Kim", "email": "kim@example.com", "phone": None}


@pytest.fixture
def api(store: ConnectedStore) -> Client:
    """Of an app that reads and writes orders."""
    app = listed_app(
        factories.developer("devi@example.com"), ["read_orders", "write_orders", "read_reviews"], name="Bell"
    )
    return client_of(installed(app, store.business))


def test_rows_mail_neither_buyers_nor_the_store(
    shop: Client, store: ConnectedStore, api: Client, mailoutbox: list[Any]
) -> None:
    for role in StoreRole:
        person_in(store.business, role)
    Mail.objects.all().delete()
    put(shop, "products/p-1", stock=9, lowStockThreshold=5)
    assert "product.low_stock" in result(shop, "products/p-1", 2, stock=2, lowStockThreshold=5)[1]
    put(shop, "orders/o-1", customer=KIM)
    for version, status in enumerate(("READY", "IN_DELIVERY", "CANCELLED"), 2):
        assert result(shop, "orders/o-1", version, customer=KIM, status=status)[0] == "updated"
    put(shop, "reviews/r-1")
    assert {"order.created", "order.cancelled", "review.created"} <= set(
        Event.objects.values_list("type", flat=True)
    )
    send_waiting_mails()
    mail_merchants()
    assert not MerchantNews.objects.exists()
    assert not Mail.objects.exists()
    assert mailoutbox == []


def test_payment_of_a_row_expires_by_a_row_alone(shop: Client, store: ConnectedStore, api: Client) -> None:
    past = (timezone.now() - timedelta(hours=1)).isoformat()
    payment = {"status": "PENDING", "expiresAt": past}
    put(shop, "orders/o-1", payment=payment)
    assert expire_payments() == 0
    assert Payment.objects.get().status == "PENDING"
    expired = result(shop, "orders/o-1", 2, payment=payment | {"status": "EXPIRED"})
    assert expired == ("updated", ["payment.expired"])


def test_open_orders_keep_no_account(shop: Client, store: ConnectedStore, api: Client) -> None:
    put(shop, "orders/o-1")
    assert obstacles_of(store.business.owner) == []
    own = factories.business(factories.merchant("mira@example.com"))
    factories.order(own)
    assert obstacles_of(own.owner)


def test_store_for_tests_begins_empty() -> None:
    shop = shop_client(shops.connect(name="Tryout", is_test=True))
    opened = shop.put(MAIN, {"name": "Support", "currency": "USD"}, content_type="application/json")
    assert (opened.status_code, opened.json()["isSandbox"]) == (201, True)  # and no check of its name
    assert not Product.objects.exists()


def test_apps_write_no_orders(shop: Client, store: ConnectedStore, api: Client) -> None:
    """There is nowhere to ask the shop for them."""
    put(shop, "products/p-1")
    put(shop, "orders/o-1")
    order = Order.objects.get()
    status = f"/app-api/orders/{order.pk}/status"
    answers = [
        api.patch(status, {"status": "CONFIRMED"}, content_type="application/json"),
        api.post("/app-api/orders", guest_order(Product.objects.get()), content_type="application/json"),
    ]
    assert [(each.status_code, each["X-Error-Code"]) for each in answers] == [(409, "store_read_only")] * 2
    same = api.patch(status, {"status": "PENDING"}, content_type="application/json")
    assert (same.status_code, same.json()["status"]) == (200, "PENDING")
    assert api.patch(status, {"status": "LOST"}, content_type="application/json").status_code == 400
    assert (Order.objects.count(), Order.objects.get().status) == (1, "PENDING")


def test_payment_of_a_row_belongs_to_no_app(shop: Client, store: ConnectedStore, api: Client) -> None:
    put(shop, "orders/o-1", payment={"status": "PENDING"})
    path = f"/app-api/orders/{Order.objects.get().pk}/payment"
    assert api.patch(path, {"status": "COMPLETED"}, content_type="application/json").status_code == 403
    assert Payment.objects.get().status == "PENDING"


def guest_order(product: Product) -> dict[str, Any]:
    return {
        "items": [{"productId": str(product.pk), "quantity": 1}],
        "customer": KIM,
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
