"""Holding what events carry to the schemas that are published for them."""

from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from webhooks import catalogue, payloads, receivers
from webhooks.services import publishing


def validate(event_type: str, data: Any) -> None:
    """Raises where `data` doesn't fit the event's schema, or has its fields in another order."""
    _validator(event_type).validate(data)
    assert list(data) == list(catalogue.EVENTS[event_type].schema["properties"])


@cache
def _validator(event_type: str) -> Draft202012Validator:
    schema = catalogue.EVENTS[event_type].schema
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def hold_to_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on every payload is validated where it is published: what the shop tells (heard by somebody or
    not), what is written down for webhooks, and the two that have a path of their own."""
    told, written = receivers.publish, publishing._write
    erased, tested = payloads.data_erasure, payloads.test_event

    def tell(*, event_type: str, data: Any, **rest: Any) -> Any:
        validate(event_type, data)
        return told(event_type=event_type, data=data, **rest)

    def write(business: Any, event_type: str, data: Any, *rest: Any) -> Any:
        validate(event_type, data)
        return written(business, event_type, data, *rest)

    def valid(event_type: str, data: Any) -> Any:
        validate(event_type, data)
        return data

    monkeypatch.setattr(receivers, "publish", tell)
    monkeypatch.setattr(publishing, "_write", write)
    monkeypatch.setattr(payloads, "data_erasure", lambda ended: valid(catalogue.DATA_ERASURE, erased(ended)))
    monkeypatch.setattr(
        payloads, "test_event", lambda webhook: valid(catalogue.WEBHOOK_TEST, tested(webhook))
    )
