"""Which copies of a customer go with **Erase**, which are another customer's and stay, and what the look for them costs."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Business, User
from activity import log as calls
from activity.models import ApiCall
from appapi.models import Export
from appapi.services.exports import make_exports
from common.models import KeptAnswer
from common.rest import idempotency
from extensions.models import HookCall
from installations.models import Installation
from marketplace.models import App
from stores.models import CustomerErasure, Order, Review
from stores.services.customer_erasure import SWEPT_AFTER, sweep
from tests import factories
from tests.clients import client_of
from tests.merchants.erasing import erase, press_erase
from tests.pages import signed_in
from tests.threads import at_once
from tests.waiting import wait_for_locks, wait_until
from webhooks.models import Event

pytestmark = pytest.mark.django_db(transaction=True)

SPEC = "Contract 12 One customer's data"
Call = Callable[..., dict[str, Any]]


@pytest.fixture
def live(app: App, sandbox: Business) -> Installation:
    """Dana's app on her sandbox, where the log keeps bodies."""
    return factories.installation(app, sandbox)


@pytest.fixture
def order_by_api(live: Installation, sandbox: Business) -> Callable[..., Any]:
    bread = factories.product(sandbox, name="Bread", price=500)

    def place(name: str, email: str, key: str, **changed: Any) -> Any:
        body = {
            "items": [{"productId": str(bread.pk), "quantity": 1}], "customer": {"name": name, "email": email},
            "deliveryMethod": "PICKUP", "paymentMethod": "CASH",
        }  # fmt: skip
        return client_of(live).post(
            "/app-api/orders",
            body | changed,
            content_type="application/json",
            headers={"Idempotency-Key": key},
        )

    return place


def review(store: Business, name: str, email: str, comment: str) -> Review:
    bread = store.products.first() or factories.product(store)
    return Review.objects.create(
        business=store, product=bread, rating=4, author_name=name, author_email=email, comment=comment
    )


def deliver_all() -> None:
    Order.objects.update(status="DELIVERED")


@pytest.mark.long
@pytest.mark.spec(SPEC, "The work for an erasure grows with what is stored, not with what shoppers typed")
def test_long_comments_cost_no_more_than_they_are_long(
    live: Installation, sandbox: Business, dana: User
) -> None:
    factories.order(
        sandbox, status="DELIVERED", customer_name="Ж" * 120, address="д. 1, " * 100, note="%" * 500
    )
    for number in range(10):
        review(sandbox, "Ж" * 120, "kim@example.com", f"{number} вкусный хлеб " * 130)
    for _ in range(50):
        client_of(live).get("/app-api/reviews")
    calls.flush()
    begun = time.process_time()
    erase(signed_in(dana), "kim@example.com")
    assert time.process_time() - begun < 10
    assert "хлеб" not in str(list(ApiCall.objects.values_list("response_body", flat=True)))


@pytest.mark.long
@pytest.mark.spec(SPEC, "What belongs to another customer stays, whatever the two are called")
@pytest.mark.parametrize(("name", "other"), [("Li", "Li Wang"), ("An", "An"), ("Kim", "Kimberly")])
def test_another_customers_copies_stay(
    live: Installation, sandbox: Business, dana: User, order_by_api: Callable[..., Any], name: str, other: str
) -> None:
    order_by_api(name, f"{name}@example.com", "first")
    theirs = order_by_api(other, f"x.{name}@example.com", "second").json()
    order_by_api(other, f"x.{name}@example.com", "third", deliveryMethod="none")
    said = review(sandbox, other, f"x.{name}@example.com", f"An honest Li of bread, says {other}")
    Event.objects.create(
        business=sandbox, type="review.created", occurred_at=timezone.now(), position=1, horizon=1,
        data=f'{{"reviewId":"{said.pk}","comment":"{said.comment}","authorName":"{other}"}}',
    )  # fmt: skip
    HookCall.objects.create(
        installation=live, definition=factories.hook(live.app, "order.validate"), hook_point="order.validate",
        called_at=timezone.now(), duration_ms=1, outcome="USED", request_body=f'{{"name": "{other}"}}',
    )  # fmt: skip
    calls.flush()
    deliver_all()

    def stored() -> list[Any]:
        return [
            list(rows.order_by("pk").values_list())
            for rows in (
                Order.objects.filter(pk=theirs["id"]),
                Review.objects.filter(pk=said.pk),
                Event.objects.filter(type="review.created"),
                HookCall.objects.all(),
                ApiCall.objects.exclude(idempotency_key="first"),
                KeptAnswer.objects.filter(about__contains=theirs["id"]),
            )
        ]

    before = stored()
    assert all(before)
    erase(signed_in(dana), f"{name}@example.com")
    assert stored() == before
    assert not Order.objects.exclude(pk=theirs["id"]).get().customer_name


@pytest.mark.long
@pytest.mark.spec(SPEC, "Calls that were refused before the first order are blanked, too")
@pytest.mark.parametrize("spelling", ["Zoë Quarterhouse", "Ли Цзыхань", "王小明"])
def test_earlier_refused_call_is_blanked(
    live: Installation, sandbox: Business, dana: User, order_by_api: Callable[..., Any], spelling: str
) -> None:
    assert order_by_api(spelling, "zoe@example.com", "k", deliveryMethod="none").status_code == 400
    client_of(live).get("/app-api/products", {"search": spelling})
    calls.flush()
    ApiCall.objects.update(at=timezone.now() - timedelta(days=2))
    factories.order(sandbox, status="DELIVERED", customer_name=spelling, customer_email="zoe@example.com")
    refused, found = ApiCall.objects.order_by("pk")
    assert json.dumps(spelling) in refused.request_body
    assert "search=" in found.path
    erase(signed_in(dana), "zoe@example.com")
    refused, found = ApiCall.objects.order_by("pk")
    assert (refused.request_body, found.path, refused.status) == ("", "/app-api/products", 400)


@pytest.mark.long
def test_log_of_the_feed_never_has_the_customer_of_an_erasure(
    live: Installation, sandbox: Business, dana: User
) -> None:
    """The event has it until the app has answered, which may be long after the last look for copies."""
    App.objects.filter(pk=live.app_id).update(webhook_url="https://app.example.com/hooks")
    factories.order(sandbox, status="DELIVERED", customer_phone="+49 30 1234567")
    assert press_erase(signed_in(dana), "kim@example.com").status_code == 302
    # It comes once every transaction of the server has ended, those of other tests too.
    wait_until(lambda: b"kim@example.com" in client_of(live).get("/app-api/events").content, timeout=60)
    calls.flush()
    logged = "".join(ApiCall.objects.values_list("response_body", flat=True))
    assert "customer.data_erasure" in logged
    assert "kim@" not in logged


@pytest.mark.long
@pytest.mark.spec(SPEC, "The file of an export goes, whenever it was asked for")
def test_export_that_was_asked_for_before_the_first_order_goes(
    live: Installation, sandbox: Business, dana: User
) -> None:
    api = client_of(live)
    asked = api.post("/app-api/exports", {"resource": "orders"}, content_type="application/json").json()["id"]
    Export.objects.update(created_at=timezone.now() - timedelta(hours=5))
    factories.order(sandbox, status="DELIVERED")
    make_exports()
    url = api.get(f"/app-api/exports/{asked}").json()["url"]
    assert api.get(url).status_code == 200
    erase(signed_in(dana), "kim@example.com")
    assert api.get(url).status_code == 410


@pytest.mark.long
def test_one_look_that_fails_stops_no_other(
    live: Installation, sandbox: Business, dana: User, order_by_api: Callable[..., Any],
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Nor does it stop the places after the one where it failed, and it is tried again."""
    first, _ = (order_by_api("Kim Lee", f"{each}@example.com", each).json()["id"] for each in "ab")
    erase_answers = idempotency.erase

    def fail_for_the_first(kept: Any, is_about: Callable[[str], bool]) -> None:
        if is_about(first):
            raise ValueError("a bug")
        erase_answers(kept, is_about)

    calls.flush()
    deliver_all()
    for each in "ab":
        assert press_erase(signed_in(dana), f"{each}@example.com").status_code == 302
    at = timezone.now() + SWEPT_AFTER
    assert ApiCall.objects.exclude(response_body="").count() == 2
    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "erase", fail_for_the_first)
        assert sweep(now=at) == 1
    assert ApiCall.objects.exclude(response_body="").count() == 0
    assert KeptAnswer.objects.exclude(answer="").get().about.split().count(first) == 1
    waiting = CustomerErasure.objects.get(swept_at=None)
    assert (waiting.order_ids, str(waiting.pk) in caplog.text) == ([first], True)
    assert sweep(now=at) == 1
    assert not KeptAnswer.objects.exclude(answer="").exists()
    for done in CustomerErasure.objects.all():
        assert (done.words, done.order_ids, done.review_ids) == (None, [], [])


@pytest.mark.long
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="One writer at a time")
def test_time_of_change_never_goes_back(sandbox: Business, dana: User) -> None:
    """A change of the order for which the erasure had to wait was earlier."""
    order = factories.order(sandbox, status="DELIVERED")
    browser = signed_in(dana)

    def change() -> Any:
        with transaction.atomic():
            Order.objects.select_for_update().get(pk=order.pk)
            wait_for_locks(1)
            changed = timezone.now()
            Order.objects.filter(pk=order.pk).update(updated_at=changed)
        return changed

    def press() -> Any:
        with transaction.atomic():
            time.sleep(0.3)
        return press_erase(browser, "kim@example.com")

    changed, answer = at_once(change, press)
    assert answer.status_code == 302
    order.refresh_from_db()
    assert not order.customer_name
    assert order.updated_at > changed
    assert connection.vendor == "postgresql"
