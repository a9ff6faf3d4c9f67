"""`customer.data_erasure`: to whom it goes, what it says, and that nothing of the person is left of it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import Business, User
from installations import services as installing
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import releases
from marketplace.services.apps import update_app
from stores.customers import Person
from stores.models import Order, Review
from stores.services.customer_erasure import erase
from tests import factories
from tests.approvals import approve
from tests.clients import api_of, client_of
from tests.merchants.pages import installed, listed_app
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import drain, is_signed
from webhooks.enums import DeliveryStatus, ErasureState
from webhooks.models import Delivery, Erasure, Event, Inbox, InboxEntry, Webhook
from webhooks.services import erasure as of_businesses
from webhooks.services.customer_erasure import update_states

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("mails_leave_at_once")]

KIM = Person.of(email="kim@example.com")
SPEC = "Contract 12 One customer's data"
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _local(settings: Any) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def order(shop: Business) -> Order:
    return factories.order(shop, status="DELIVERED", created_at=timezone.now() - HOUR)


@pytest.fixture
def review(shop: Business) -> Review:
    bread = factories.product(shop)
    return Review.objects.create(
        business=shop, product=bread, rating=4, author_name="Kim", comment="Good", author_email="kim@example.com"
    )  # fmt: skip


def read_by(dana: User, shop: Business, receiver: Receiver, *scopes: str, **fields: Any) -> Installation:
    """An approved app with a Webhook URL, installed two hours ago."""
    app = listed_app(dana, list(scopes), webhook_url=receiver.url, **fields)
    made = installed(app, shop, now=timezone.now() - 2 * HOUR)
    App.objects.get(pk=app.pk).versions.update(approved_at=timezone.now() - 3 * HOUR)
    return made


def bodies(receiver: Receiver) -> list[dict[str, Any]]:
    return [orjson.loads(each.body)["data"] for each in receiver.requests]


def feed(reader: Installation) -> list[dict[str, Any]]:
    helpers.wait_for_feed()
    events: list[dict[str, Any]] = client_of(reader).get("/app-api/events").json()["data"]
    return events


def settle() -> None:
    update_states(now=timezone.now())


def states() -> list[str]:
    return list(
        Erasure.objects.of_customers().order_by("installation__app__slug").values_list("state", flat=True)
    )


@pytest.mark.spec(SPEC, "Each app gets what it could read, signed and at once")
@pytest.mark.parametrize(
    ("scopes", "customer", "orders", "reviews"),
    [
        (["read_orders", "read_reviews"], {"email": "kim@example.com", "phone": None}, True, True),
        (["read_orders"], {"email": "kim@example.com", "phone": None}, True, False),
        (["read_reviews"], None, False, True),
        (["read_products"], "not sent", False, False),
    ],
)  # fmt: skip
def test_each_app_gets_what_it_could_read(
    dana: User, shop: Business, receiver: Receiver, order: Order, review: Review,
    scopes: list[str], customer: Any, orders: bool, reviews: bool,
) -> None:  # fmt: skip
    reader = read_by(dana, shop, receiver, *scopes)
    erase(business=shop, person=KIM)
    assert drain() == (0 if customer == "not sent" else 1)
    if customer == "not sent":
        assert not Erasure.objects.exists()
        return
    (request,) = receiver.wait_for(1)
    assert is_signed(request, reader.webhook_secret)
    (data,) = bodies(receiver)
    assert data["customer"] == customer
    assert data["orderIds"] == ([str(order.pk)] if orders else [])
    assert data["reviewIds"] == ([str(review.pk)] if reviews else [])
    assert (data["appId"], data["businessId"]) == (str(reader.app_id), str(shop.pk))
    assert set(Event.objects.values_list("type", flat=True)) == {"customer.data_erasure"}


@pytest.mark.long
@pytest.mark.spec(SPEC, "It goes to the Webhook URL whatever is switched off, paused, disabled or suspended")
def test_it_is_sent_whatever_is_off(dana: User, shop: Business, receiver: Receiver, order: Order) -> None:
    reader = read_by(dana, shop, receiver, "read_orders", webhook_events=["product.created"])
    named = helpers.webhook(reader, f"{receiver.url}named", ["customer.data_erasure"], is_active=False)
    helpers.webhook(reader, f"{receiver.url}other", ["order.created"])
    gone = helpers.webhook(reader, f"{receiver.url}gone", ["customer.data_erasure"])
    Webhook.objects.filter(pk=gone.pk).update(deleted_at=timezone.now())
    Webhook.objects.filter(is_app_defined=True).update(is_active=False, disabled_at=timezone.now())
    Installation.objects.update(paused_at=timezone.now())
    App.objects.update(suspended_at=timezone.now())
    erase(business=shop, person=KIM)
    assert drain() == 2
    assert sorted(each.target for each in receiver.wait_for(2)) == ["/", "/named"]
    assert is_signed(next(each for each in receiver.requests if each.target == "/named"), named.secret)
    settle()
    assert states() == [ErasureState.CONFIRMED]


@pytest.mark.long
@pytest.mark.spec(SPEC, "An uninstalled app is asked until it has answered its own erasure")
def test_uninstalled_app_is_asked_until_it_has_erased_all(
    dana: User, shop: Business, receiver: Receiver, order: Order
) -> None:
    reader = read_by(dana, shop, receiver, "read_orders")
    installing.uninstall(installation=reader, now=timezone.now())
    erase(business=shop, person=KIM)
    assert drain() == 1
    assert bodies(receiver)[0]["customer"] == {"email": "kim@example.com", "phone": None}

    factories.order(shop, status="DELIVERED")
    Erasure.objects.of_businesses().update(state=ErasureState.CONFIRMED, confirmed_at=timezone.now())
    erase(business=shop, person=KIM)
    assert drain() == 0


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "What an app has erased with all data of the store is over, also if it is installed again"
)
def test_app_that_is_back_is_not_asked_for_what_it_has_erased(
    dana: User, shop: Business, receiver: Receiver, order: Order
) -> None:
    """It was there twice, and erased all after the second time. Now it may not read orders, so it has seen nothing of the person since."""
    first = read_by(dana, shop, receiver, "read_orders")
    app = App.objects.get(pk=first.app_id)
    installing.uninstall(installation=first, now=timezone.now())
    installing.uninstall(installation=installed(app, shop), now=timezone.now())
    erased = Erasure.objects.of_businesses().exclude(installation=first)
    assert erased.update(state=ErasureState.CONFIRMED, confirmed_at=timezone.now()) == 1
    factories.approve(app, scopes=["read_products"])
    installed(App.objects.get(pk=app.pk), shop)
    erase(business=shop, person=KIM)
    assert drain() == 0
    assert not Erasure.objects.of_customers().exists()


@pytest.mark.long
def test_confirmed_erasure_of_all_ends_that_of_a_customer(
    dana: User, shop: Business, receiver: Receiver, order: Order
) -> None:
    reader = read_by(dana, shop, receiver, "read_orders")
    installing.uninstall(installation=reader, now=timezone.now())
    erase(business=shop, person=KIM)
    receiver.respond_with(500)
    drain()
    settle()
    assert states() == [ErasureState.SENT]
    Erasure.objects.of_businesses().update(state=ErasureState.CONFIRMED, confirmed_at=timezone.now())
    settle()
    asked = Erasure.objects.of_customers().get()
    assert (asked.state, asked.answer) == (ErasureState.CONFIRMED, "Erased with all data of the store")
    assert Delivery.objects.get(event=asked.event_id).status == DeliveryStatus.CANCELLED
    assert "kim@" not in Event.objects.get(pk=asked.event_id).data


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "It goes where the scope was lost since the person's first record, and not where it was lost before"
)
@pytest.mark.parametrize(("lost", "asked"), [(timedelta(minutes=30), True), (timedelta(minutes=90), False)])
def test_lost_scope_counts_if_it_was_lost_after_the_first_record(
    dana: User, shop: Business, receiver: Receiver, order: Order, lost: timedelta, asked: bool
) -> None:
    """By an approval without the scope. The order is an hour old."""
    reader = read_by(dana, shop, receiver, "read_orders")
    app = App.objects.get(pk=reader.app_id)
    approve(app, "ALL", scopes=["read_products"])
    HistoryEntry.objects.filter(kind=HistoryKind.SCOPES_REMOVED).update(at=timezone.now() - lost)
    assert "read_orders" not in Installation.objects.with_app().get(pk=reader.pk).effective_scopes
    erase(business=shop, person=KIM)
    assert drain() == int(asked)


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "It goes where a version was taken back, or its release halted, and the one before could read"
)
def test_app_with_a_version_that_was_taken_back_is_asked(
    dana: User, mira: User, shop: Business, receiver: Receiver
) -> None:
    """The newer version may not read orders. Both stores have ended the app, so that only the past counts."""
    reader = read_by(dana, shop, receiver, "read_orders")
    app = approve(App.objects.get(pk=reader.app_id), "STEPS", scopes=["read_products"])
    releases.halt(app=app, by=dana)
    other = factories.business(mira)
    late = installed(App.objects.get(pk=app.pk), other)
    factories.order(other, status="DELIVERED")
    installing.uninstall(installation=late, now=timezone.now())
    erase(business=other, person=KIM)
    assert states() == [ErasureState.DUE]

    releases.take_back(app=app, by=dana)
    follow_all()
    factories.order(shop, status="DELIVERED")
    installing.uninstall(installation=reader, now=timezone.now())
    erase(business=shop, person=KIM)
    assert states() == [ErasureState.DUE] * 2


@pytest.mark.parametrize(("gained", "asked"), [(timedelta(minutes=30), True), (timedelta(minutes=90), False)])
def test_scope_of_the_working_copy_is_remembered(
    dana: User, sandbox: Business, receiver: Receiver, gained: timedelta, asked: bool
) -> None:
    """A test install has the scope for a moment, after the order or long before it."""
    now = timezone.now()
    app = factories.app(dana, scopes=["read_products"], webhook_url=receiver.url)
    installed(app, sandbox, now=now - 2 * HOUR)
    update_app(app=app, changes={"scopes": ["read_orders"]}, now=now - gained)
    update_app(
        app=App.objects.get(pk=app.pk),
        changes={"scopes": ["read_products"]},
        now=now - gained + timedelta(minutes=5),
    )
    kinds = (
        HistoryEntry.objects.filter(kind=HistoryKind.SCOPES_FOLLOWED)
        .order_by("at")
        .values_list("scopes", flat=True)
    )
    assert list(kinds) == [["read_orders"], ["read_products"]]
    factories.order(sandbox, status="DELIVERED", created_at=now - HOUR)
    erase(business=sandbox, person=KIM)
    assert drain() == int(asked)


@pytest.mark.spec(SPEC, "An app without an address is not asked, and the page says so")
def test_app_without_an_address_has_the_ids_in_its_feed(dana: User, shop: Business, order: Order) -> None:
    app = listed_app(dana, ["read_orders"])
    reader = installed(app, shop, now=timezone.now() - 2 * HOUR)
    App.objects.get(pk=app.pk).versions.update(approved_at=timezone.now() - 3 * HOUR)
    erase(business=shop, person=KIM)
    assert states() == [ErasureState.UNADDRESSED]
    (event,) = feed(reader)
    assert event["data"]["customer"] is None
    assert event["data"]["orderIds"] == [str(order.pk)]


@pytest.mark.long
@pytest.mark.spec(
    SPEC,
    "When a delivery has ended, its copy is blanked, with the last one the event's and the feed's; resending is 409",
)
def test_copy_goes_with_its_delivery_and_the_event_with_the_last(
    dana: User, shop: Business, receiver: Receiver, order: Order, settings: Any
) -> None:
    settings.WEBHOOK_RETRY_DELAYS = (3600,)
    reader = read_by(dana, shop, receiver, "read_orders")
    with Receiver() as failing:
        failing.respond_with(Answer(status=500, body=b"no kim@example.com here"))
        receiver.respond_with(Answer(body=b"kim@example.com is gone"))
        other = helpers.webhook(reader, failing.url, ["customer.data_erasure"])
        erase(business=shop, person=KIM)
        assert drain() == 2
        sent = Delivery.objects.get(status=DeliveryStatus.SUCCEEDED)
        waits = Delivery.objects.get(webhook=other)
        inbox = Inbox.objects.create(app=reader.app, key="k" * 43)
        for each, request in ((sent, receiver.requests[0]), (waits, failing.requests[0])):
            InboxEntry.objects.create(
                inbox=inbox,
                delivery_id=each.pk,
                event_type="customer.data_erasure",
                body=request.body.decode(),
            )
        assert copies_of(sent) == copies_of(waits) == 2
        settle()
        assert (copies_of(sent), copies_of(waits)) == (0, 2)
        api = api_of(dana)
        base = f"/developer/apps/{reader.app_id}/deliveries"
        assert orjson.loads(api("get", f"{base}/{sent.pk}").json()["payload"])["data"]["customer"] is None
        assert "kim@example.com" in api("get", f"{base}/{waits.pk}").json()["payload"]
        assert "kim@example.com" in str(feed(reader))
        again = api("post", f"{base}/{sent.pk}/redeliver")
        assert (again.status_code, again["X-Error-Code"]) == (409, "customer_erased")
        assert api("post", f"{base}/{waits.pk}/redeliver").status_code == 202
        Delivery.objects.filter(pk=waits.pk).update(attempts_made=1)
        assert drain() == 1
    settle()
    assert copies_of(waits) == 0
    assert states() == [ErasureState.OVERDUE]
    assert Erasure.objects.of_customers().get().answer == "Answered with 500"
    for where in (
        Event.objects.get(type="customer.data_erasure").data,
        str(feed(reader)),
        api("get", f"{base}/{waits.pk}").json()["payload"],
    ):
        assert "kim@example.com" not in where
        assert str(order.pk) in where
    recover = client_of(reader).post(
        f"/webhooks/{other.pk}/recover", {"since": "2020-01-01T00:00:00Z"}, content_type="application/json"
    )
    assert recover.json() == {"deliveries": 0}


def copies_of(delivery: Delivery) -> int:
    """In what the endpoint answered to it last, and in what the inbox received."""
    answer = delivery.attempts.latest("number").response_excerpt
    received = InboxEntry.objects.filter(delivery_id=delivery.pk).values_list("body", flat=True)
    return sum("kim@" in each for each in (answer, *received))


@pytest.mark.long
def test_those_that_wait_keep_no_other_from_its_answer(
    dana: User, shop: Business, receiver: Receiver, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many wait for the next try."""
    monkeypatch.setattr("webhooks.services.customer_erasure.BATCH", 1)
    with Receiver() as failing:
        failing.respond_with(500)
        for url in (failing, receiver):
            read_by(dana, shop, url, "read_orders")
        erase(business=shop, person=KIM)
        assert drain() == 2
    for _ in range(2):
        settle()
    assert sorted(states()) == [ErasureState.CONFIRMED, ErasureState.SENT]


@pytest.mark.spec(SPEC, "Operators learn of an app that hasn't confirmed")
def test_operators_hear_of_an_unconfirmed_one_and_can_not_resend_it(
    dana: User, shop: Business, receiver: Receiver, order: Order, settings: Any, mailoutbox: list[Any]
) -> None:
    settings.ADMINS, settings.WEBHOOK_RETRY_DELAYS = [("Ada", "ada@example.com")], ()
    read_by(dana, shop, receiver, "read_orders")
    receiver.respond_with(500)
    erase(business=shop, person=KIM)
    drain()
    settle()
    of_businesses.update_states()
    (mail,) = mailoutbox
    assert "of one customer" in mail.body
    assert "kim@" not in mail.body
    with pytest.raises(Exception, match="can't be resent"):
        of_businesses.resend(erasure=Erasure.objects.get())


@pytest.mark.long
def test_reinstalled_app_is_asked_once_with_its_new_secret(
    dana: User, shop: Business, receiver: Receiver, order: Order
) -> None:
    """It had read the orders before, and may not read them now."""
    first = read_by(dana, shop, receiver, "read_orders")
    installing.uninstall(installation=first, now=timezone.now())
    app = App.objects.get(pk=first.app_id)
    factories.approve(app, scopes=["read_products"])
    second = installed(App.objects.get(pk=app.pk), shop)
    erase(business=shop, person=KIM)
    assert drain() == 1
    (request,) = receiver.wait_for(1)
    assert is_signed(request, second.webhook_secret)
    assert bodies(receiver)[0]["orderIds"] == [str(order.pk)]


def test_test_event_goes_where_a_real_one_would(dana: User, sandbox: Business, receiver: Receiver) -> None:
    app = factories.app(dana, webhook_url=receiver.url, webhook_events=["order.created"])
    installed(app, sandbox)
    answer = api_of(dana)("post", f"/developer/apps/{app.pk}/test-events", {"event": "customer.data_erasure"})
    assert answer.json()["deliveries"] == 1
    assert drain() == 1
    (data,) = bodies(receiver)
    assert data["customer"] == {"email": "kim@example.com", "phone": None}
    assert (data["appId"], data["businessId"]) == (str(app.pk), str(sandbox.pk))
    assert not Erasure.objects.exists()
