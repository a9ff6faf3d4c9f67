"""The same order sent twice is one order, whatever happens in between."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import orjson
import pytest
import time_machine
from django.db import OperationalError, connections
from django.test import Client

from accounts.models import Business
from appapi.tasks import delete_expired_idempotency_keys
from common.models import KeptAnswer
from common.rest import idempotency
from installations.models import Installation
from marketplace.models import App
from stores import hookpoints
from stores.buyers.shoppers import OwnPart
from stores.models import Order, Product
from stores.records import OrderRecord
from stores.serializers import order_payload
from tests import factories
from tests.clients import client_of

JSON = "application/json"
START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def product(sandbox: Business) -> Product:
    return factories.product(sandbox, name="Tea", stock=5)


@pytest.fixture
def body(product: Product) -> dict[str, Any]:
    return {
        "items": [{"productId": str(product.pk), "quantity": 2}],
        "customer": {"name": "Kim", "phone": "+44 20"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }


def post(api: Client, body: Any, key: str = "key-1") -> Any:
    return api.post("/app-api/orders", body, content_type=JSON, headers={"Idempotency-Key": key})


def stock() -> int | None:
    return Product.objects.get(name="Tea").stock


@pytest.mark.spec("Idempotency", "The same key and body within 24 hours gives the first answer again")
def test_repeated_request_gets_the_first_answer(api: Client, body: dict[str, Any]) -> None:
    first = post(api, body)
    Order.objects.update(status="READY")
    second = post(api, body)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == second.headers["Idempotent-Replayed"] == "true"
    assert second.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert second.headers["Content-Type"] == JSON
    assert (Order.objects.count(), stock()) == (1, 3)


def test_request_without_a_key_is_placed_each_time(api: Client, body: dict[str, Any]) -> None:
    for _ in range(2):
        assert api.post("/app-api/orders", body, content_type=JSON).status_code == 201
    assert (Order.objects.count(), KeptAnswer.objects.count()) == (2, 0)


def test_same_meaning_in_other_bytes_is_the_same_request(api: Client, body: dict[str, Any]) -> None:
    first = post(api, body)
    items = [{**body["items"][0], "quantity": 2.0}]
    spaced = orjson.dumps(dict(reversed(body.items())) | {"items": items}, option=orjson.OPT_INDENT_2)
    assert post(api, spaced).content == first.content
    assert Order.objects.count() == 1


@pytest.mark.spec("Idempotency", "The same key with another body is a 409")
def test_key_with_another_body_is_409(api: Client, body: dict[str, Any]) -> None:
    post(api, body)
    answer = post(api, body | {"note": "Ring twice"})
    assert (answer.status_code, Order.objects.count()) == (409, 1)


@pytest.mark.spec("Idempotency", "Keys are per installation")
def test_keys_of_two_installations_do_not_meet(
    api: Client, body: dict[str, Any], second_app: App, installation: Installation
) -> None:
    other = client_of(factories.installation(second_app, installation.business))
    assert post(api, body).json()["id"] != post(other, body).json()["id"]


@pytest.mark.spec("Idempotency", "Keys have at most 255 characters")
def test_key_that_cannot_be_kept_is_400(api: Client, body: dict[str, Any]) -> None:
    for key in ("k" * 256, "", "a\tb", "schlüssel"):
        answer = post(api, body, key)
        assert (answer.status_code, answer["X-Error-Code"]) == (400, "wrong_idempotency_key")
        assert answer.json()["details"][0]["field"] == "Idempotency-Key"
    assert post(api, body, "k" * 255).status_code == 201


def test_refusal_is_remembered_as_the_first_answer(
    api: Client, body: dict[str, Any], product: Product
) -> None:
    Product.objects.update(stock=1)
    first = post(api, body)
    Product.objects.update(stock=5)
    second = post(api, body)
    assert (first.status_code, second.status_code) == (409, 409)
    assert second.content == first.content
    assert post(api, body, "key-2").status_code == 201


def test_refusal_is_the_same_with_a_key_and_without(api: Client, body: dict[str, Any]) -> None:
    wrong = body | {"paymentMethod": "BARTER"}
    without = api.post("/app-api/orders", wrong, content_type=JSON)
    assert (without.status_code, post(api, wrong).content) == (400, without.content)


def test_bad_body_does_not_use_the_key_up(api: Client, body: dict[str, Any]) -> None:
    assert post(api, body | {"items": []}).status_code == 400
    assert not Order.objects.exists()
    assert post(api, body).status_code == 201
    assert Order.objects.count() == 1


def test_key_is_free_again_after_24_hours(api: Client, body: dict[str, Any]) -> None:
    with time_machine.travel(START, tick=False) as clock:
        first = post(api, body)
        clock.shift(timedelta(hours=24, seconds=-1))
        assert post(api, body).content == first.content
        clock.shift(timedelta(seconds=1))
        again = post(api, body | {"note": "Another day"})
    assert (again.status_code, Order.objects.count()) == (201, 2)


@pytest.mark.spec("Idempotency", "409 while the first request still runs")
def test_request_during_the_first_is_409(api: Client, body: dict[str, Any]) -> None:
    during: list[int] = []

    def ask(question: hookpoints.HookRequest) -> hookpoints.OrderVerdict:
        during.append(post(api, body).status_code)
        return hookpoints.OrderVerdict()

    with hookpoints.registered("order.validate", ask):
        assert post(api, body).status_code == 201
    assert (during, Order.objects.count()) == ([409], 1)


def test_failure_of_ours_frees_the_key_at_once(
    api: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("appapi.serializers.order_payload", fail_with(RuntimeError("a bug")))
        assert post(api, body).status_code == 500
    assert (Order.objects.count(), stock()) == (0, 5)
    assert post(api, body).status_code == 201
    assert (Order.objects.count(), stock()) == (1, 3)


def test_failure_after_the_order_is_saved_keeps_its_answer(
    api: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[dict[str, Any]] = []

    def fail_later(order: OrderRecord, own: OwnPart) -> dict[str, Any]:
        if records:
            raise RuntimeError("a bug")
        records.append(order_payload(order, own))
        return records[0]

    with monkeypatch.context() as patch:
        patch.setattr("appapi.serializers.order_payload", fail_later)
        assert post(api, body).status_code == 500
    answer = post(api, body)
    assert (answer.status_code, answer.json()) == (201, records[0])
    assert (Order.objects.count(), stock()) == (1, 3)


def test_death_before_the_order_frees_the_key_after_the_lease(
    api: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with time_machine.travel(START, tick=False) as clock:
        with monkeypatch.context() as patch:
            patch.setattr("extensions.shops.writing.place_order", fail_with(SystemExit()))
            patch.setattr("common.rest.idempotency._release", lambda claim: None)
            with pytest.raises(SystemExit):
                post(api, body)
        assert post(api, body).status_code == 409
        clock.shift(idempotency.LEASE)
        assert post(api, body).status_code == 201
    assert (Order.objects.count(), stock()) == (1, 3)


def test_death_after_the_order_gives_its_answer_after_the_lease(
    api: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with time_machine.travel(START, tick=False) as clock:
        with monkeypatch.context() as patch:
            keep = idempotency.keep

            def fail_at_the_end(*args: Any, ends: bool = False, **options: Any) -> None:
                if ends:
                    raise OperationalError("gone")
                keep(*args, **options)

            patch.setattr(idempotency, "keep", fail_at_the_end)
            patch.setattr(idempotency, "_release", lambda claim: None)
            assert post(api, body).status_code == 503
        assert post(api, body).status_code == 409
        clock.shift(idempotency.LEASE)
        answer = post(api, body)
    assert answer.status_code == 201
    assert answer.json()["id"] == str(Order.objects.get().pk)
    assert stock() == 3


def test_overtaken_request_undoes_its_order(api: Client, body: dict[str, Any]) -> None:
    with time_machine.travel(START, tick=False) as clock:
        later: list[Any] = []

        def ask(question: hookpoints.HookRequest) -> hookpoints.OrderVerdict:
            if not later:
                clock.shift(idempotency.LEASE)
                later.append(None)
                later.append(post(api, body))
            return hookpoints.OrderVerdict()

        with hookpoints.registered("order.validate", ask):
            slow = post(api, body)
        again = post(api, body)
    assert (slow.status_code, later[1].status_code) == (409, 201)
    assert again.content == later[1].content
    assert (Order.objects.count(), stock()) == (1, 3)


def test_request_overtaken_by_one_without_an_answer_undoes_its_order(
    api: Client, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with time_machine.travel(START, tick=False) as clock:

        def ask(question: hookpoints.HookRequest) -> hookpoints.OrderVerdict:
            clock.shift(idempotency.LEASE)
            with monkeypatch.context() as patch:
                patch.setattr("extensions.shops.writing.place_order", fail_with(SystemExit()))
                patch.setattr("common.rest.idempotency._release", lambda claim: None)
                with pytest.raises(SystemExit):
                    post(api, body)
            return hookpoints.OrderVerdict()

        with hookpoints.registered("order.validate", ask):
            assert post(api, body).status_code == 409
        assert (Order.objects.count(), stock()) == (0, 5)
        clock.shift(idempotency.LEASE)
        assert post(api, body).status_code == 201
    assert (Order.objects.count(), stock()) == (1, 3)


@pytest.mark.spec("Idempotency", "Parallel requests with one key place one order")
@pytest.mark.django_db(transaction=True)
def test_parallel_requests_place_one_order(
    installation: Installation, body: dict[str, Any], product: Product
) -> None:
    barrier = Barrier(8)

    def send() -> tuple[int, bytes]:
        try:
            barrier.wait()
            answer = post(client_of(installation), body)
            return answer.status_code, answer.content
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        answers = [future.result() for future in [pool.submit(send) for _ in range(8)]]
    placed = {content for status, content in answers if status == 201}
    assert len(placed) == 1
    assert {status for status, _ in answers} <= {201, 409}
    assert (Order.objects.count(), stock()) == (1, 3)
    assert post(client_of(installation), body).content == placed.pop()


def test_expired_keys_are_deleted(api: Client, body: dict[str, Any]) -> None:
    with time_machine.travel(START, tick=False) as clock:
        post(api, body, "old")
        clock.shift(timedelta(hours=1))
        post(api, body, "young")
        clock.shift(timedelta(hours=23))
        assert delete_expired_idempotency_keys() == 1
    assert KeptAnswer.objects.count() == 1
    assert Order.objects.count() == 2


def fail_with(error: BaseException) -> Callable[..., Any]:
    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    return fail
