"""After **Erase** nothing that is stored names the person, whatever held a copy, and everything else is as before."""

import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import Business, User
from activity import log as calls
from appapi.models import Export, IdempotencyKey
from appapi.services.exports import make_exports
from extensions.models import HookCall
from installations.models import Installation
from marketplace.models import App
from stores.dashboard import dashboard
from stores.models import Cart, Order, OrderHookPart, Review, WaitingMail
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from stores.services.history import merchant
from stores.services.orders import add_staff_note, change_order_status
from tests import factories
from tests.clients import client_of
from tests.everything_stored import columns, files, mails, sessions
from tests.merchants.erasing import erase, look_for_copies, press_erase
from tests.pages import signed_in, text_of
from tests.receivers import Answer, Receiver
from tests.storefront.shopping import Shopper
from tests.webhooks import helpers
from tests.webhooks.helpers import drain
from webhooks.enums import ErasureState
from webhooks.models import Erasure, Event, Inbox, InboxEntry
from webhooks.services import customer_erasure

pytestmark = pytest.mark.django_db(transaction=True)

NAME, EMAIL = "Zoë Quarterhouse", "Zoe.Quarterhouse@Example.com"
PHONE, PLAIN = "0049 (171) 555-01 77", "+491715550177"
STREET, NOTE, SAID = "17 Nightingale Lane", "Ring at Quarterhouse twice", "Zoë says: best bread of the lane"
TRACES = ("quarterhouse", "zoë", "zo\\u00eb", "1715550177", "171) 555", "nightingale", "ring at")


@pytest.fixture
def echo(settings: Any) -> Iterable[Receiver]:
    """Answers with what it knows of the person, as apps do."""
    settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        body = orjson.dumps({"thanks": NAME, "phone": "+49 171 5550177"})
        running.respond_with(Answer(body=body))
        yield running


@pytest.fixture
def live(app: App, echo: Receiver, sandbox: Business) -> Installation:
    """Dana's app on her sandbox, where bodies of requests are kept, with two webhooks, an inbox and a hook."""
    app.webhook_url = echo.url
    app.save()
    installed = factories.installation(app, sandbox)
    helpers.webhook(installed, echo.url, [], is_app_defined=True, secret=installed.webhook_secret)
    helpers.webhook(
        installed, f"{echo.url}named", ["order.created", "customer.data_erasure", "review.created"]
    )
    factories.hook(app, "order.validate")
    return installed


def traces(places: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [
        (where, text[max(0, text.lower().index(trace) - 40) :][:120])
        for where, text in places
        for trace in TRACES
        if trace in text.lower()
    ]


def buy(sandbox: Business, live: Installation) -> Order:
    """Orders at the store and through the API, a review from the same browser, and all that follows."""
    bread = factories.product(sandbox, name="Bread", price=500)
    shopper = Shopper(sandbox)
    person = {"customer_name": NAME, "customer_email": EMAIL, "customer_phone": PHONE, "note": NOTE}
    shopper.take(bread)
    shopper.place(**person, delivery_method="DELIVERY", address=STREET)
    placed = Order.objects.get(business=sandbox)
    for author in (
        {"author_name": "Z. Q.", "comment": SAID},
        {"author_name": NAME, "author_email": f" {EMAIL.upper()} "},
    ):
        Shopper.post(
            shopper,
            shopper.at("products/bread-x/".replace("bread-x", bread.slug) + "reviews/"),
            {"rating": "4", **author},
        )
    api = client_of(live)
    body = {
        "items": [{"productId": str(bread.pk), "quantity": 1}],
        "customer": {"name": NAME, "email": EMAIL.lower(), "phone": PHONE},
        "deliveryMethod": "DELIVERY", "address": STREET, "paymentMethod": "CASH", "note": NOTE,
    }  # fmt: skip
    answer = api.post(
        "/app-api/orders", body, content_type="application/json", headers={"Idempotency-Key": "k1"}
    )
    assert answer.status_code == 201, answer.content
    api.get("/app-api/orders"), api.get("/app-api/reviews"), api.get("/app-api/products", {"search": NAME})
    assert (
        api.post("/app-api/exports", {"resource": "orders"}, content_type="application/json").status_code
        == 202
    )
    make_exports()
    return placed


def finish(sandbox: Business, dana: User, order: Order) -> None:
    """What the merchant wrote, what waits, and the end of the orders."""
    add_staff_note(order=order, text=f"Called {NAME}", by=merchant(dana))
    OrderHookPart.objects.create(
        order=order, point="order.calculate_discounts", app_name="A", outcome="USED", reason=f"For {NAME}"
    )
    Order.objects.filter(pk=order.pk).update(discount_reason=f"Because {EMAIL}")
    factories.payment(order, payment_url=f"https://pay.example/?m={EMAIL}", qr_code=NAME, status="COMPLETED")
    WaitingMail.objects.create(business=sandbox, order=order)
    for each in Order.objects.filter(business=sandbox):
        change_order_status(order=each, status="DELIVERED")


def test_nothing_that_is_stored_names_the_person(
    live: Installation, sandbox: Business, dana: User, echo: Receiver, tmp_path: Any,
    caplog: pytest.LogCaptureFixture, shop: Business, mailoutbox: Any,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    inbox = Inbox.objects.create(app=live.app, key="k" * 43)
    other = factories.order(
        shop, customer_name=NAME, customer_email=EMAIL, address=STREET, status="DELIVERED"
    )
    order = buy(sandbox, live)
    finish(sandbox, dana, order)
    drain()
    calls.flush()
    created = Event.objects.filter(type="review.created").first()
    assert created is not None
    delivery = created.deliveries.first()
    assert delivery is not None
    InboxEntry.objects.create(
        inbox=inbox,
        delivery_id=delivery.pk,
        event_type="review.created",
        body=orjson.dumps({"data": orjson.loads(created.data)}).decode(),
    )
    HookCall.objects.create(
        installation=live, definition=live.app.definitions.get(), hook_point="order.validate", called_at=timezone.now(),
        duration_ms=1, outcome="USED", order_id=order.pk, request_body=f"{{\"to\":\"{STREET}\"}}", answer_excerpt=NAME, problem=f"Bad {NAME}",
    )  # fmt: skip
    figures = figures_of(sandbox)
    held = {where for where, _ in traces([*columns(), *files(tmp_path)])}
    for place in (
        "stores_order.customer_name", "stores_review.comment", "stores_payment.qr_code", "stores_orderchange.note",
        "stores_orderhookpart.reason", "activity_apicall.response_body", "activity_apicall.request_body",
        "activity_apicall.path", "appapi_idempotencykey.body", "webhooks_event.data", "webhooks_attempt.response_excerpt",
        "webhooks_inboxentry.body", "extensions_hookcall.request_body", "extensions_hookcall.answer_excerpt",
    ):  # fmt: skip
        assert place in held, f"Nothing to erase in {place}"
    assert Cart.objects.filter(business=sandbox).exists()
    file = client_of(live).get(f"/app-api/exports/{Export.objects.get().pk}").json()["url"]

    browser = signed_in(dana)
    caplog.clear()
    assert press_erase(browser, EMAIL).status_code == 302
    look_for_copies()
    assert WaitingMail.objects.count() == 0
    assert not Cart.objects.filter(business=sandbox).exists()
    pending = {where for where, _ in traces([*without_other_store(columns(), other), *sessions()])}
    # The request to the app, until it has answered, and what to look for, until the second look.
    assert pending == {"webhooks_event.data", "stores_customererasure.words"}, traces(columns())[:20]

    assert drain() == 2
    customer_erasure.update_states(now=timezone.now())
    calls.flush()
    sweep(now=timezone.now() + SWEPT_AFTER)
    assert traces([*without_other_store(columns(), other), *sessions(), *mails(), *files(tmp_path)]) == []
    assert [each for each in caplog.messages if traces([("log", each)])] == []
    for page in ("", f"orders/{order.pk}/", "orders/", "reviews/", "customers/", "apps/"):
        assert traces([(page, text_of(browser.get(f"/merchant/{page}", follow=True)))]) == [], page
    assert traces([("feed", client_of(live).get("/app-api/events").content.decode())]) == []
    assert client_of(live).get(file).status_code == 410
    assert figures_of(sandbox) == figures

    (asked,) = Erasure.objects.all()
    assert (asked.state, asked.answer) == (ErasureState.CONFIRMED, "Answered with 200")
    other.refresh_from_db()
    assert (other.customer_name, other.customer_email, other.address) == (NAME, EMAIL, STREET)


def without_other_store(found: Iterable[tuple[str, str]], other: Order) -> list[tuple[str, str]]:
    """All but the one row of the person in another merchant's store, which has the same texts."""
    kept, left = [], {"customer_name": 1, "customer_email": 1, "address": 1}
    for where, text in found:
        name = where.removeprefix("stores_order.")
        if where.startswith("stores_order.") and left.get(name) and text == getattr(other, name):
            left[name] -= 1
            continue
        kept.append((where, text))
    assert not any(left.values())
    return kept


def figures_of(store: Business) -> Any:
    rows = Order.objects.filter(business=store).order_by("id")
    ratings = (
        Review.objects.filter(business=store)
        .order_by("id")
        .values_list("rating", "created_at", "product__rating")
    )
    columns_kept = (
        "number",
        "status",
        "amount",
        "subtotal",
        "discount",
        "created_at",
        "items__name",
        "items__quantity",
    )
    return dashboard(store, days=30), list(rows.values_list(*columns_kept)), list(ratings)


def test_answer_kept_under_a_key_is_blank_and_the_key_refuses_a_second_order(
    live: Installation, sandbox: Business, dana: User
) -> None:
    bread = factories.product(sandbox, price=500)
    body = {
        "items": [{"productId": str(bread.pk), "quantity": 1}], "customer": {"name": NAME, "email": EMAIL},
        "deliveryMethod": "DELIVERY", "address": STREET, "paymentMethod": "CASH", "note": NOTE,
    }  # fmt: skip

    def post() -> Any:
        return client_of(live).post(
            "/app-api/orders", body, content_type="application/json", headers={"Idempotency-Key": "again"}
        )

    first = post().json()
    before = Order.objects.get()
    change_order_status(order=before, status="CANCELLED")
    kept = IdempotencyKey.objects.get()
    paid = {
        "status": "FAILED",
        "paymentUrl": None,
        "qrCode": None,
        "invoiceId": f"for {EMAIL}",
        "expiresAt": None,
    }
    IdempotencyKey.objects.update(body=orjson.dumps(orjson.loads(kept.body) | {"payment": paid}).decode())
    first["payment"] = paid | {"invoiceId": None}
    erase(signed_in(dana), EMAIL)
    again = post()
    assert again.status_code == 201
    nulls = {"customer": {"name": None, "email": None, "phone": None}, "address": None, "note": None}
    assert again.json() == first | nulls
    assert Order.objects.count() == 1
    assert IdempotencyKey.objects.count() == 1
    now = client_of(live).get(f"/app-api/orders/{before.pk}").json()
    assert {name: now[name] for name in nulls} == nulls
    assert now.keys() == first.keys()
    assert now["updatedAt"] > first["updatedAt"]


def test_what_was_being_written_meanwhile_goes_with_the_sweep(
    live: Installation, sandbox: Business, dana: User
) -> None:
    """A call that read the order is logged after the erasure."""
    order = factories.order(sandbox, customer_name=NAME, customer_email=EMAIL, status="DELIVERED")
    client_of(live).get(f"/app-api/orders/{order.pk}")
    erase(signed_in(dana), EMAIL)
    calls.flush()
    assert "activity_apicall.response_body" in {where for where, _ in traces(columns())}
    assert sweep(now=timezone.now() + SWEPT_AFTER - timedelta(seconds=5)) == 0
    assert sweep(now=timezone.now() + SWEPT_AFTER + timedelta(seconds=5)) == 1
    assert {where for where, _ in traces(columns())} <= {"webhooks_event.data"}
