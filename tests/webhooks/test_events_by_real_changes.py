"""Every event of the catalog, caused by a real change and seen to arrive.

Each way in has its share: the app API, the administration, the scheduler's tasks, the developer API, and the
shop's own services where no page or call leads to the change. Nothing between the change and the receiver is
replaced but the time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
import time_machine
from celery import current_app
from django.conf import settings as django_settings
from django.test import Client

from accounts.models import User
from installations.models import Installation
from stores import hookpoints
from stores.models import Order, Product, Review
from stores.services.reviews import create_review
from tests import factories
from tests.clients import api_of, client_of
from tests.pages import signed_in
from tests.payloads import validate
from tests.receivers import ReceivedRequest, Receiver
from tests.webhooks.helpers import drain, is_signed
from webhooks import catalogue

pytestmark = pytest.mark.django_db(transaction=True)

T0 = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
JSON = "application/json"


@dataclass
class Stage:
    """A shop with an app that listens to everything, and those who change something in it."""

    installation: Installation
    webhook: dict[str, Any]
    api: Client
    admin: Client
    clock: time_machine.Traveller

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the app API that must succeed; the answer's JSON."""
        answer = getattr(self.api, method)(path, body, content_type=JSON)
        assert answer.status_code < 300, answer.content
        return answer.json()

    def product(self, **fields: Any) -> Product:
        return factories.product(self.installation.business, **fields)

    def order(
        self, product: Product | None = None, quantity: int = 1, method: str = "CASH"
    ) -> dict[str, Any]:
        """An order placed by the app."""
        line = {"productId": str((product or self.product()).pk), "quantity": quantity}
        body = {
            "items": [line],
            "customer": {"name": "Kim", "email": "kim@example.com"},
            "deliveryMethod": "PICKUP",
            "paymentMethod": method,
        }
        placed: dict[str, Any] = self.send("post", "/app-api/orders", body)
        return placed

    def payable_order(self) -> dict[str, Any]:
        """An order whose payment the app makes, to be taken within ten minutes."""
        method = hookpoints.PaymentMethod("pay:card", "Card", provider=str(self.installation.app_id))
        made = hookpoints.PaymentDetails(invoice_id="inv-7", expires_at=T0 + timedelta(minutes=10))
        with (
            hookpoints.registered("checkout.payment_methods", lambda request: [method]),
            hookpoints.registered("checkout.create_payment", lambda request: made),
        ):
            return self.order(method="pay:card")

    def submit(self, path: str, **fields: Any) -> None:
        """A form of the administration, which leads elsewhere once it is taken."""
        answer = self.admin.post(f"/admin/stores/{path}", fields)
        assert answer.status_code == 302, answer.content

    def edit(self, product: Product, **changes: Any) -> None:
        path = f"product/{product.pk}/change/"
        form = self.admin.get(f"/admin/stores/{path}").context["adminform"].form
        values = {name: form[name].value() for name in form.fields} | {"initial-stock": product.stock}
        filled_in = {name: value for name, value in (values | changes).items() if value not in (None, False)}
        self.submit(path, **filled_in)

    def run_task(self, name: str) -> None:
        """A scheduled task, as beat would start it."""
        current_app.loader.import_default_modules()
        assert name in django_settings.CELERY_BEAT_SCHEDULE
        current_app.tasks[name].apply(throw=True)


@pytest.fixture
def stage(installation: Installation, receiver: Receiver, settings: Any) -> Iterator[Stage]:
    settings.DEBUG = True  # plain http to the receiver on this machine
    admin = Client()
    admin.force_login(User.objects.create_superuser("root@example.com", "x"))
    api = client_of(installation)
    with time_machine.travel(T0, tick=False) as clock:
        yield Stage(installation, listen(api, receiver.url), api, admin, clock)


def listen(api: Client, url: str) -> dict[str, Any]:
    """A webhook for everything, registered by the app; the answer, with its secret."""
    body = {"url": url, "events": list(catalogue.SUBSCRIBABLE)}
    answer = api.post("/webhooks", body, content_type=JSON)
    assert answer.status_code == 201, answer.content
    webhook: dict[str, Any] = answer.json()
    return webhook


# --- One change for each event ----------------------------------------------------------------------

CAUSES: dict[str, Callable[[Stage], object]] = {}


def causes(event: str) -> Callable[[Callable[[Stage], object]], Callable[[Stage], object]]:
    def register(change: Callable[[Stage], object]) -> Callable[[Stage], object]:
        CAUSES[event] = change
        return change

    return register


@causes("order.created")
def app_places_an_order(stage: Stage) -> None:
    stage.order()


@causes("order.status_changed")
def app_moves_an_order_along(stage: Stage) -> None:
    stage.send("patch", f"/app-api/orders/{stage.order()['id']}/status", {"status": "CONFIRMED"})


@causes("order.delivered")
def administrator_delivers_an_order(stage: Stage) -> None:
    stage.submit("order/", action="move_to_delivered", _selected_action=[stage.order()["id"]])


@causes("order.cancelled")
def app_cancels_an_order(stage: Stage) -> None:
    stage.send("patch", f"/app-api/orders/{stage.order()['id']}/status", {"status": "CANCELLED"})


@causes("order.refunded")
def merchant_records_a_refund(stage: Stage) -> None:
    order = stage.order()
    stage.send("patch", f"/app-api/orders/{order['id']}/status", {"status": "DELIVERED"})
    form = {"known": "0", "amount": "5.00", "reason": "One loaf was missing"}
    browser = signed_in(stage.installation.business.owner)
    assert browser.post(f"/merchant/orders/{order['id']}/refund/", form).status_code == 302


@causes("payment.completed")
def app_takes_a_payment(stage: Stage) -> None:
    order = stage.payable_order()
    stage.send("patch", f"/app-api/orders/{order['id']}/payment", {"status": "COMPLETED"})


@causes("payment.expired")
def payment_is_not_taken_in_time(stage: Stage) -> None:
    stage.payable_order()
    stage.clock.shift(timedelta(minutes=10))
    stage.run_task("stores.tasks.expire_payments")


@causes("product.created")
def administrator_adds_a_product(stage: Stage) -> None:
    business = stage.installation.business_id
    stage.submit("product/add/", business=business, name="Rye", slug="rye", price="640", is_available="on")


@causes("product.updated")
def administrator_edits_a_product(stage: Stage) -> None:
    stage.edit(stage.product(), name="Wheat bread", price="700")


@causes("product.deleted")
def administrator_deletes_a_product(stage: Stage) -> None:
    stage.submit(f"product/{stage.product().pk}/delete/", post="yes")


@causes("product.out_of_stock")
def order_takes_the_last_ones(stage: Stage) -> None:
    stage.order(stage.product(stock=3, low_stock_threshold=2), quantity=3)


@causes("product.low_stock")
def order_leaves_few(stage: Stage) -> None:
    stage.order(stage.product(stock=6, low_stock_threshold=5), quantity=2)


@causes("product.back_in_stock")
def administrator_fills_the_shelf(stage: Stage) -> None:
    stage.edit(stage.product(stock=0), stock="25")


@causes("review.created")
def customer_writes_a_review(stage: Stage) -> None:
    create_review(product=stage.product(), rating=5, comment="Just right.", author_name="Kim")


@causes("review.deleted")
def administrator_deletes_a_review(stage: Stage) -> None:
    customer_writes_a_review(stage)
    stage.submit(f"review/{Review.objects.get().pk}/delete/", post="yes")


@causes("installation.updated")
def merchant_pauses_the_app(stage: Stage) -> None:
    browser = signed_in(stage.installation.business.owner)
    assert browser.post(f"/merchant/apps/{stage.installation.pk}/pause/").status_code == 302


@causes("business.data_erasure")
def developer_uninstalls_and_two_days_pass(stage: Stage) -> None:
    app = stage.installation.app
    answer = api_of(app.developer)("post", f"/developer/apps/{app.pk}/test-uninstall")
    assert answer.status_code == 200
    stage.clock.shift(timedelta(hours=48))


@causes("customer.data_erasure")
def merchant_erases_a_customer(stage: Stage) -> None:
    order = stage.order()
    stage.send("patch", f"/app-api/orders/{order['id']}/status", {"status": "DELIVERED"})
    browser = signed_in(stage.installation.business.owner)
    assert browser.post(f"/merchant/customers/{order['id']}/erase/").status_code == 302


@causes("webhook.test")
def app_tries_its_webhook(stage: Stage) -> None:
    assert stage.send("post", f"/webhooks/{stage.webhook['id']}/test")["success"]


# --- And its arrival --------------------------------------------------------------------------------


def test_every_event_has_a_change_that_causes_it() -> None:
    assert sorted(CAUSES) == sorted(catalogue.EVENTS)


def arrived(receiver: Receiver, event: str) -> ReceivedRequest:
    """The one request with the event."""
    drain()
    (request,) = [each for each in receiver.requests if each.headers["x-webhook-event"] == event]
    return request


def add_listener_without_scope(stage: Stage, event: str) -> None:
    """Another app on the shop that registers for everything at the same address, and lacks the event's scope."""
    scope = catalogue.EVENTS[event].scope
    own = stage.installation
    app = factories.app(own.app.developer, scopes=[other for other in own.app.scopes if other != scope])
    listen(client_of(factories.installation(app, own.business)), stage.webhook["url"])


@pytest.mark.spec("Events", "Each event of the catalog is sent for a real change, signed, with its data")
@pytest.mark.spec("Events", "Events are delivered only for scopes that the app holds")
@pytest.mark.parametrize("event", catalogue.EVENTS)
def test_event_arrives_by_a_real_change(event: str, stage: Stage, receiver: Receiver) -> None:
    if catalogue.EVENTS[event].scope:
        add_listener_without_scope(stage, event)
    CAUSES[event](stage)
    request = arrived(receiver, event)

    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert request.headers["user-agent"] == "Service-Webhooks/1.0"
    assert request.headers["x-webhook-id"] == stage.webhook["id"]
    assert is_signed(request, stage.webhook["secret"])
    body = orjson.loads(request.body)
    assert list(body) == ["event", "timestamp", "webhookId", "businessId", "data"]
    assert (body["event"], body["webhookId"]) == (event, stage.webhook["id"])
    assert body["businessId"] == str(stage.installation.business_id)
    validate(event, body["data"])

    assert drain() == 0  # it was answered 2xx, so once is all


def test_change_that_is_not_made_sends_nothing(stage: Stage, receiver: Receiver) -> None:
    """Refused before anything was written, and refused in the middle of the transaction."""
    product = stage.product(stock=1)
    order = stage.order(product)
    drain()
    before = len(receiver.requests)
    too_many = {"items": [{"productId": str(product.pk), "quantity": 2}]}
    body = order | too_many | {"customer": {"name": "Kim", "phone": "+1 555 0100"}}
    assert stage.api.post("/app-api/orders", body, content_type=JSON).status_code == 409
    for status in ("DELIVERED", "DELIVERED", "CANCELLED"):
        stage.api.patch(f"/app-api/orders/{order['id']}/status", {"status": status}, content_type=JSON)
    assert drain() == 2  # order.status_changed and order.delivered of the one move that was made
    assert len(receiver.requests) == before + 2
    assert Order.objects.get().status == "DELIVERED"
