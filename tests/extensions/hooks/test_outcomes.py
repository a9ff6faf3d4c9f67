"""What may come of one call, and what the shop does then. Each against a real server."""

import socket
import time
from typing import Any

import pytest
import time_machine

from accounts.models import Business
from common.http.exchanges import ErrorClass, Exchange
from extensions.enums import CallOutcome
from extensions.hooks.answers import BadAnswer
from extensions.hooks.calling import check_exchange
from tests.extensions.hooks import asking
from tests.hooking import Hooking, says
from tests.receivers import Answer, Receiver

SHIPPING = "checkout.shipping_rates"
FAILURE = "Contract 6 Hooks"


@pytest.mark.spec("Hook calls", "The service waits for the answer and uses its data in the flow")
def test_answer_is_used(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, {"fee": 120, "unknown": ["ignored"]})

    assert asking.fee(shop) == 120
    call = app.call
    assert (call.outcome, call.http_status, call.problem, call.fallback) == ("ANSWERED", 200, "", "")
    assert call.hook_point == SHIPPING
    assert call.answer_excerpt == '{"fee":120,"unknown":["ignored"]}'


@pytest.mark.spec(FAILURE, "A failure is no 2xx, no JSON or not the expected answer; it keeps the fee so far")
@pytest.mark.parametrize(
    ("answer", "outcome", "problem"),
    [
        (500, "HTTP_ERROR", "It answered 500."),
        (404, "HTTP_ERROR", "It answered 404."),
        (Answer(status=302, headers={"Location": "/elsewhere"}), "HTTP_ERROR", "Redirects are not followed."),
        (Answer(body=b"<p>Hello</p>"), "NOT_JSON", "The answer is not JSON"),
        (Answer(body=b""), "NOT_JSON", "The answer is not JSON"),
        (Answer(body=b'{"fee": NaN}'), "NOT_JSON", "The answer is not JSON"),
        (Answer(body=b"[" * 60_000), "NOT_JSON", "The answer is not JSON"),
        (Answer(body=b'{"fee": 1}', headers={"Content-Length": "99"}, close=True), "NOT_JSON", "closed before"),
        ([{"fee": 1}], "UNEXPECTED", "[{'fee': 1}] is not of type 'object'"),
        ({}, "UNEXPECTED", "fee: It is missing."),
        ({"fee": "12"}, "UNEXPECTED", "fee: '12' is not of type 'integer'"),
        ({"fee": None}, "UNEXPECTED", "fee: None is not of type 'integer'"),
        ({"fee": True}, "UNEXPECTED", "fee: True is not of type 'integer'"),
        ({"fee": -1}, "UNEXPECTED", "fee: -1 is less than the minimum of 0"),
        ({"fee": 1.5}, "UNEXPECTED", "fee: 1.5 is not of type 'integer'"),
        ({"fee": 2**53}, "UNEXPECTED", "is greater than the maximum"),
        (Answer(body=b'{"fee": 1e999}'), "NOT_JSON", ""),
        ({"data": {"fee": 1}}, "UNEXPECTED", "fee: It is missing."),
        ({"fee": 1, "padding": "x" * 65536}, "UNEXPECTED", "larger than 64 KiB"),
        (Answer(script=lambda connection: connection.close()), "UNREACHABLE", "The connection was reset."),
        (Answer(script=lambda connection: connection.sendall(b"SSH-2.0\r\n")), "UNREACHABLE", ""),
    ],
)  # fmt: skip
def test_failure_keeps_the_stores_own_fee(
    shop: Business, hooking: Hooking, answer: Any, outcome: str, problem: str
) -> None:
    app = hooking(SHIPPING, answer)

    assert asking.fee(shop) == 350
    assert app.call.outcome == outcome
    assert problem in app.call.problem
    assert not app.call.problem.startswith(": ")
    assert app.call.fallback == "The store's own fee was kept."
    assert app.breaker.failures == 1


@pytest.mark.parametrize("length", [200, 201])
def test_problem_of_more_than_200_characters_keeps_its_beginning_and_its_end(
    shop: Business, hooking: Hooking, length: int
) -> None:
    rest = "' is not of type 'integer'"
    text = ("0123456789" * 20)[: length - len(rest) - 1]
    whole = f"'{text}{rest}"
    app = hooking(SHIPPING, {"fee": text})

    asking.fee(shop)
    assert app.call.problem == "fee: " + (whole if length == 200 else f"{whole[:120]}…{whole[-60:]}")


@pytest.mark.parametrize("fee", [0, 2**53 - 1, 250.0])
def test_fee_at_the_edge_is_used(shop: Business, hooking: Hooking, fee: float) -> None:
    hooking(SHIPPING, {"fee": fee})

    assert asking.fee(shop) == fee


def test_answer_of_64_kib_is_used(shop: Business, hooking: Hooking) -> None:
    body = b'{"fee": 7, "padding": "'
    hooking(SHIPPING, Answer(body=body + b"x" * (65536 - len(body) - 2) + b'"}'))

    assert asking.fee(shop) == 7


def test_redirect_is_not_followed(shop: Business, hooking: Hooking) -> None:
    with Receiver() as elsewhere:
        hooking(SHIPPING, Answer(status=307, headers={"Location": elsewhere.url}))
        assert asking.fee(shop) == 350

    assert not elsewhere.requests


def head_drips(connection: socket.socket) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" * 10:
        time.sleep(0.05)
        connection.sendall(bytes([byte]))


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.spec(FAILURE, "A hook that gives no 2xx answer within its timeout has failed")
@pytest.mark.parametrize(
    "answer",
    [
        says({"fee": 1}, delay=3.0),
        says({"fee": 1, "padding": "x" * 100}, drip=0.05),
        Answer(script=head_drips),
    ],
    ids=["hangs", "body drips", "head drips"],
)
def test_slow_answer_is_given_up_at_the_timeout(shop: Business, hooking: Hooking, answer: Answer) -> None:
    app = hooking(SHIPPING, answer, timeout=300)
    began = time.monotonic()

    assert asking.fee(shop) == 350
    assert 0.29 < time.monotonic() - began < 0.7
    assert app.call.outcome == "TIMEOUT"
    assert "within 300 ms" in app.call.problem
    assert 290 <= app.call.duration_ms < 700


@pytest.mark.spec(FAILURE, "A hook that gives no 2xx answer within its timeout has failed")
@pytest.mark.parametrize(
    ("status", "after_ms", "error", "outcome", "problem"),
    [
        (None, 5000, "reset", "TIMEOUT", "No answer within 5,000 ms."),
        (None, 4999, "reset", "UNREACHABLE", "The connection was reset."),
        (None, 4999, None, "UNREACHABLE", "The connection was reset."),
        (None, 4999, "timeout_response", "TIMEOUT", "No answer within 5,000 ms."),
        (200, 5000, None, "TIMEOUT", "The answer was not complete within 5,000 ms."),
        (200, 4999, None, "NOT_JSON", "The connection closed before the answer was complete."),
    ],
)
def test_connection_that_breaks_when_the_time_is_over_is_late(
    status: int | None, after_ms: int, error: ErrorClass | None, outcome: str, problem: str
) -> None:
    broken = Exchange(status, {}, b"", status is not None, after_ms, error)
    with pytest.raises(BadAnswer) as found:
        check_exchange(broken, seconds=5.0)
    assert (found.value.outcome, found.value.problem) == (outcome, problem)


def test_complete_answer_is_never_late() -> None:
    check_exchange(Exchange(200, {}, b"{}", False, 5001, None), seconds=5.0)


def test_server_that_is_away_is_not_reached(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING)
    app.receiver.__exit__()

    assert asking.fee(shop) == 350
    assert app.call.outcome == "UNREACHABLE"
    assert app.call.problem == "The connection was refused."
    assert app.call.http_status is None


@pytest.mark.spec(FAILURE, "A hook is never called at an address inside")
def test_blocked_address_is_not_called(shop: Business, hooking: Hooking, settings: Any) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = False
    app = hooking(SHIPPING, {"fee": 1})

    assert asking.fee(shop) == 350
    assert app.call.outcome == "UNREACHABLE"
    assert app.call.problem == "The address is not on the public internet."
    assert not app.receiver.connections


def test_answer_with_nul_is_kept_readable(shop: Business, hooking: Hooking) -> None:
    hooking("checkout.payment_methods", {"methods": [{"id": "a", "name": "A\x00B"}]})

    (method,) = asking.methods(shop)
    assert method.name == "A�B"


def test_bytes_that_are_no_text_are_recorded(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, Answer(body=b"\xff\x00\xfe" * 3000))

    assert asking.fee(shop) == 350
    assert app.call.outcome == "NOT_JSON"
    assert len(app.call.answer_excerpt) == 2000


def test_every_outcome_has_words() -> None:
    assert all(outcome.label for outcome in CallOutcome)


@pytest.mark.spec("Hook calls", "A call has hookPoint, businessId, timestamp and data, and is signed")
def test_request_is_what_the_specification_says(shop: Business, hooking: Hooking) -> None:
    from extension_platform_sdk.signatures import verify

    app = hooking(SHIPPING, {"fee": 1}, url="rates/v1")
    with time_machine.travel("2026-11-20T15:04:05.123Z", tick=False):
        asking.fee(shop, locality="Almaty")
        (request,) = app.receiver.requests
        verify(
            secret=app.installation.webhook_secret,
            timestamp=request.headers["x-webhook-timestamp"],
            signature=request.headers["x-webhook-signature"],
            body=request.body,
        )

    assert (request.method, request.target) == ("POST", "/base/rates/v1")
    assert app.asked() == {
        "hookPoint": SHIPPING,
        "businessId": str(shop.pk),
        "timestamp": "2026-11-20T15:04:05.123Z",
        "data": {
            "deliveryMethod": "DELIVERY", "locality": "Almaty", "subtotal": 2000, "builtInFee": 350,
        },
        "attributes": {},
        "shopper": None,
    }  # fmt: skip
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "Service-Webhooks/1.0"
    assert "x-webhook-id" not in request.headers
    assert request.headers["webhook-id"] == str(app.call.pk)
