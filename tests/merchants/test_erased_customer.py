"""After **Erase** nothing that is stored names the person, whatever held a copy, and everything else is as before."""

import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.utils import timezone

from accounts.models import Business, Mail, User
from accounts.services.outbox import post_later
from accounts.services.sender import send_due
from activity import log as calls
from appapi.models import Export
from appapi.services.exports import make_exports
from common.models import KeptAnswer
from extensions.models import HookCall
from installations.models import Installation
from marketplace.models import App
from stores.dashboard import dashboard
from stores.models import Cart, Order, OrderHookPart, Review, WaitingMail
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from stores.services.history import merchant
from stores.services.orders import add_staff_note, change_order_status, record_refund
from tests import factories
from tests.clients import api_of, client_of
from tests.everything_stored import columns, files, mails, rows_of, sessions
from tests.merchants.erasing import erase, look_for_copies, press_erase
from tests.pages import signed_in, text_of
from tests.receivers import Answer, Receiver
from tests.secrets_search import cached
from tests.storefront.shopping import Shopper
from tests.webhooks import helpers
from tests.webhooks.helpers import drain
from webhooks.enums import ErasureState
from webhooks.models import Delivery, Erasure, Inbox, InboxEntry
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
    """Dana's app on her sandbox, where bodies of requests are kept, with two webhooks and a hook."""
    app.webhook_url = echo.url
    app.save()
    factories.hook(app, "order.validate")
    return installed_with_webhooks(app, sandbox, echo)


def installed_with_webhooks(app: App, store: Business, echo: Receiver) -> Installation:
    installed = factories.installation(app, store)
    helpers.webhook(installed, echo.url, [], is_app_defined=True, secret=installed.webhook_secret)
    events = ["order.created", "customer.data_erasure", "review.created"]
    helpers.webhook(installed, f"{echo.url}named", events)
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
            shopper.at(f"products/{bread.slug}/reviews/"),
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
    return placed


def finish(sandbox: Business, dana: User, order: Order) -> None:
    """What the merchant wrote, what waits, and the end of the orders."""
    add_staff_note(order=order, text=f"Called {NAME}", by=merchant(dana))
    OrderHookPart.objects.create(
        order=order, point="order.calculate_discounts", app_name="A", outcome="USED", reason=f"For {NAME}"
    )
    Order.objects.filter(pk=order.pk).update(discount_reason=f"Because {EMAIL}")
    factories.payment(order, payment_url=f"https://pay.example/?m={EMAIL}", qr_code=NAME, invoice_id=f"inv {NAME}", reference=EMAIL, status="COMPLETED")  # fmt: skip
    WaitingMail.objects.create(business=sandbox, order=order)
    for each in Order.objects.filter(business=sandbox):
        change_order_status(order=each, status="DELIVERED")
    record_refund(order=order, amount=100, reason=f"{NAME} found a stone", known=0, by=merchant(dana))


def copy_by_hand(live: Installation, order: Order, dana: User) -> None:
    """What a test can't cause by HTTP: an inbox's entry, the call of a hook, and what earlier versions wrote to the admin's log."""
    inbox, _ = Inbox.objects.get_or_create(app=live.app, defaults={"key": "k" * 43})
    created = delivery_of_review(live).event
    InboxEntry.objects.create(
        inbox=inbox,
        delivery_id=delivery_of_review(live).pk,
        event_type="review.created",
        body=orjson.dumps({"data": orjson.loads(created.data)}).decode(),
    )
    HookCall.objects.create(
        installation=live, definition=live.app.definitions.get(), hook_point="order.validate", called_at=timezone.now(),
        duration_ms=1, outcome="USED", order_id=order.pk, request_body=f"{{\"to\":\"{STREET}\"}}", answer_excerpt=NAME, problem=f"Bad {NAME}",
    )  # fmt: skip
    LogEntry.objects.create(
        user=dana,
        content_type=ContentType.objects.get_for_model(Review),
        object_id=str(Review.objects.filter(business=live.business_id).latest("id").pk),
        object_repr=f"4/5 by {NAME}",
        action_flag=DELETION,
    )


def delivery_of_review(live: Installation) -> Delivery:
    return Delivery.objects.filter(business_id=live.business_id, event_type="review.created").earliest("id")


def shown(browser: Client, live: Installation, dana: User, order: Order) -> dict[str, str]:
    """What people and apps read where the person's data was."""
    helpers.wait_for_feed()
    bread = live.business.products.get()
    delivery = f"/developer/apps/{live.app_id}/deliveries/{delivery_of_review(live).pk}"
    pages = {
        path: text_of(browser.get(f"/merchant/{path}"))
        for path in (f"orders/{order.pk}/", "orders/", "reviews/")
    }
    return pages | {
        "store": Shopper(live.business).see(f"products/{bread.slug}/"),
        "feed": client_of(live).get("/app-api/events").content.decode(),
        "orders of the API": client_of(live).get("/app-api/orders").content.decode(),
        "delivery": api_of(dana)("get", delivery).content.decode(),
    }  # fmt: skip


HELD = {
    "stores_order.customer_name", "stores_order.customer_email", "stores_order.customer_email_key", "stores_order.customer_phone", "stores_order.customer_phone_key", "stores_order.address",
    "stores_order.note", "stores_order.discount_reason", "stores_review.comment", "stores_review.author_name",
    "stores_review.author_email", "stores_review.author_email_key", "stores_payment.qr_code", "stores_payment.payment_url", "stores_payment.invoice_id",
    "stores_payment.reference", "stores_orderchange.note", "stores_orderhookpart.reason", "activity_apicall.response_body",
    "activity_apicall.request_body", "activity_apicall.path", "webhooks_event.data",
    "webhooks_attempt.response_excerpt", "webhooks_inboxentry.body", "extensions_hookcall.request_body",
    "extensions_hookcall.answer_excerpt", "extensions_hookcall.problem", "django_admin_log.object_repr",
    "accounts_mail.to", "accounts_mail.to_key", "accounts_mail.content",
}  # fmt: skip


@pytest.mark.long
def test_nothing_that_is_stored_names_the_person(
    live: Installation, sandbox: Business, dana: User, echo: Receiver, tmp_path: Any,
    caplog: pytest.LogCaptureFixture, shop: Business,
) -> None:  # fmt: skip
    """The same person is a customer of another merchant, who has the same app: there all stays."""
    caplog.set_level(logging.DEBUG)
    factories.approve(live.app)
    order, theirs = (
        buy(each.business, each) for each in (live, installed_with_webhooks(live.app, shop, echo))
    )
    make_exports()
    finish(sandbox, dana, order)
    finish(shop, shop.owner, theirs)
    Mail.objects.all().delete()  # as if they were sent
    post_later(kind="order-placed", to=EMAIL, about_id=order.pk, page_key=NAME)
    drain()
    copy_by_hand(live, order, dana)
    calls.flush()
    figures, others = figures_of(sandbox), rows_of(shop)
    held = {where for where, _ in traces([*columns(without=others), *files(tmp_path)])}
    file = client_of(live).get(f"/app-api/exports/{Export.objects.get(installation=live).pk}").json()["url"]
    assert {each for each in held if "." in each and "/" not in each} == HELD
    assert [each for each in held if each.endswith(".ndjson.gz")]
    assert traces([("other", str(others))])
    assert Cart.objects.filter(business=sandbox).exists()
    browser = signed_in(dana)
    for place, text in shown(browser, live, dana, order).items():
        assert traces([(place, text)]), f"Nothing to erase in {place}"

    caplog.clear()
    assert press_erase(browser, EMAIL).status_code == 302
    look_for_copies()
    assert not WaitingMail.objects.filter(business=sandbox).exists()
    assert not Mail.objects.filter(to=EMAIL).exists()
    assert not Cart.objects.filter(business=sandbox).exists()
    pending = {where for where, _ in traces([*columns(without=others), *sessions()])}
    # The request to the app, until it has answered, and what to look for, until the second look.
    assert pending == {"webhooks_event.data", "stores_customererasure.words"}

    assert drain() == 2
    customer_erasure.update_states(now=timezone.now())
    calls.flush()
    sweep(now=timezone.now() + SWEPT_AFTER)
    left = [
        *columns(without=others),
        *sessions(),
        *mails(),
        ("cache", cached()["cache"].decode("utf-8", "replace")),
    ]
    assert traces(left) == []
    of_other = str(Export.objects.get(installation__business=shop).pk)
    assert [each for each, _ in traces(files(tmp_path)) if of_other not in each] == []
    assert traces(("log", each) for each in caplog.messages) == []
    for place, text in shown(browser, live, dana, order).items():
        assert traces([(place, text)]) == []
    assert client_of(live).get(file).status_code == 410
    assert figures_of(sandbox) == figures
    (asked,) = Erasure.objects.all()
    assert (asked.state, asked.answer) == (ErasureState.CONFIRMED, "Answered with 200")
    assert rows_of(shop) == others


@pytest.mark.long
def test_mail_that_waits_is_not_sent(shop: Business, settings: Any, mailoutbox: list[Any]) -> None:
    """The mail to somebody else goes on waiting, and is sent."""
    settings.NEW_STORE_MAILS = 0
    bread = factories.product(shop, price=500)
    for email in (EMAIL, "kim@example.com"):
        shopper = Shopper(shop)
        shopper.take(bread)
        shopper.place(customer_name="Zoë", customer_email=email)
    send_due()
    assert Mail.objects.filter(kind="order-placed").count() == 2
    Order.objects.filter(customer_email=EMAIL).update(status="DELIVERED")
    erase(signed_in(shop.owner), EMAIL)
    settings.NEW_STORE_MAILS = 9
    assert Mail.objects.filter(kind="order-placed").count() == 1
    send_due(now=timezone.now() + timedelta(days=1))
    assert [each.to for each in mailoutbox] == [["kim@example.com"]]


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


@pytest.mark.long
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
    erase(signed_in(dana), EMAIL)
    again = post()
    assert (again.status_code, again["X-Error-Code"]) == (410, "answer_erased")
    assert not traces([("answer", again.content.decode()), ("kept", str(KeptAnswer.objects.values().get()))])
    assert Order.objects.count() == 1
    assert KeptAnswer.objects.get().answer == ""
    now = client_of(live).get(f"/app-api/orders/{before.pk}").json()
    nulls = {
        "customer": {"name": None, "email": None, "phone": None, "key": None},
        "address": None,
        "note": None,
    }
    assert {name: now[name] for name in nulls} == nulls
    assert now.keys() == first.keys()
    assert now["updatedAt"] > first["updatedAt"]


@pytest.mark.long
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
