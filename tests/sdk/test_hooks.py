"""The hook router: which answer each call gets."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from extension_platform_sdk import HookCall, HookResponse, HookRouter

SECRET = "whsec_test_c2VjcmV0"
NOW = 1_763_650_000
ENVELOPE: dict[str, Any] = {
    "hookPoint": "checkout.shipping_rates",
    "businessId": "b-1",
    "timestamp": "2026-11-20T15:04:05.123Z",
    "data": {"deliveryMethod": "DELIVERY", "subtotal": 4200, "builtInFee": 500},
}


def post(
    router: HookRouter,
    envelope: object = ENVELOPE,
    *,
    secret: Any = SECRET,
    signed_with: str = SECRET,
    signed_at: int = NOW,
    more: Mapping[str, str] = MappingProxyType({}),
) -> HookResponse:
    body = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    digest = hmac.new(signed_with.encode(), f"{signed_at}.".encode() + body, hashlib.sha256).hexdigest()
    headers = {"x-webhook-signature": f"sha256={digest}", "X-WEBHOOK-TIMESTAMP": str(signed_at), **more}
    return router.handle(headers, body, secret, now=NOW + 5)


@pytest.fixture
def calls() -> list[HookCall]:
    return []


@pytest.fixture
def router(calls: list[HookCall]) -> HookRouter:
    router = HookRouter()

    @router.on("checkout.shipping_rates")
    def rate(call: HookCall) -> Mapping[str, object]:
        calls.append(call)
        return {"fee": call.data["builtInFee"] + 100}

    return router


@pytest.mark.spec("Events/Hook calls", "hookPoint, businessId, timestamp, data")
def test_call_reaches_its_handler_and_its_answer_goes_back(router: HookRouter, calls: list[HookCall]) -> None:
    response = post(router)
    assert (response.status, json.loads(response.body)) == (200, {"fee": 600})
    assert calls == [
        HookCall(
            hook_point="checkout.shipping_rates",
            business_id="b-1",
            timestamp=datetime(2026, 11, 20, 15, 4, 5, 123000, UTC),
            data=ENVELOPE["data"],
        )
    ]


def test_call_has_the_ids_of_its_headers(router: HookRouter, calls: list[HookCall]) -> None:
    traceparent = "00-01932d1c7a407cc39d6f0d2f4c1f8a01-00f067aa0ba902b7-01"
    post(router, more={"X-Request-Id": "r-1", "Traceparent": traceparent})
    post(router, more={"traceparent": "00-evil"})
    assert [(call.request_id, call.traceparent) for call in calls] == [("r-1", traceparent), (None, None)]


@pytest.mark.spec("Errors", "Webhook receivers: respond 401 for an invalid signature or stale timestamp")
@pytest.mark.parametrize(
    "wrong", [{"signed_with": "whsec_another"}, {"signed_at": NOW - 301}, {"signed_at": NOW + 400}]
)
def test_untrusted_call_is_401(router: HookRouter, calls: list[HookCall], wrong: dict[str, Any]) -> None:
    response = post(router, **wrong)
    assert response.status == 401
    assert json.loads(response.body) == {"message": response.reason}
    assert calls == []


def test_unsigned_call_is_401(router: HookRouter) -> None:
    assert router.handle({}, json.dumps(ENVELOPE).encode(), SECRET).status == 401


def test_secret_is_looked_up_by_business(router: HookRouter) -> None:
    secrets = {"b-1": SECRET, "b-2": "whsec_of_another"}
    assert post(router, secret=secrets.get).status == 200
    assert post(router, ENVELOPE | {"businessId": "b-2"}, secret=secrets.get).status == 401
    assert post(router, ENVELOPE | {"businessId": "b-3"}, secret=secrets.get).status == 401
    assert post(router, b"not json", secret=secrets.get).status == 401


@pytest.mark.parametrize(
    "envelope",
    [
        b"not json",
        b"[]",
        b"[" * 100_000,
        ENVELOPE | {"hookPoint": 5},
        ENVELOPE | {"timestamp": "yesterday"},
        ENVELOPE | {"data": []},
        {key: value for key, value in ENVELOPE.items() if key != "businessId"},
    ],
)
def test_signed_nonsense_is_400(router: HookRouter, calls: list[HookCall], envelope: object) -> None:
    assert post(router, envelope).status == 400
    assert calls == []


def test_hook_point_without_a_handler_is_404(router: HookRouter) -> None:
    assert post(router, ENVELOPE | {"hookPoint": "order.validate"}).status == 404


@pytest.mark.parametrize("answer", [{"fee": float("nan")}, {"fee": object()}])
def test_answer_that_is_not_json_is_500(answer: dict[str, object]) -> None:
    router = HookRouter()
    router.on("checkout.shipping_rates")(lambda call: answer)
    assert post(router).status == 500


def test_failed_handler_is_500(router: HookRouter) -> None:
    response = post(router, ENVELOPE | {"data": {}})  # the handler needs builtInFee
    assert response.status == 500
    assert response.call is not None


def test_second_handler_of_a_hook_point_is_a_mistake(router: HookRouter) -> None:
    with pytest.raises(ValueError, match="has a handler already"):
        router.on("checkout.shipping_rates")(lambda call: {})
