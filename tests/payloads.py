"""Validating what events carry against the schemas that are published for them."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from developers.docs.openapi.calls import data_schema
from extensions.services import installation_updates
from webhooks import catalogue, receivers
from webhooks.messages import payloads
from webhooks.services.sandbox import samples

PUBLISHERS = ((receivers, "publish"), (samples, "publish_to"), (installation_updates, "publish_to"))
BUILDERS = {
    "data_erasure": catalogue.DATA_ERASURE,
    "customer_erased": catalogue.CUSTOMER_ERASURE,
    "test_event": catalogue.WEBHOOK_TEST,
}

OF_SHOPS = ("externalId", "groupId")  # records of connected stores have all of them, others none


def validate(event_type: str, data: Any) -> None:
    """Raises if `data` doesn't fit the event's schema, or has its fields in another order."""
    validator = validator_of(event_type)
    validator.validate(data)
    is_of_shop = "externalId" in data
    properties = validator.schema["properties"]
    assert list(data) == [name for name in properties if is_of_shop or name not in OF_SHOPS]


@cache
def validator_of(event_type: str) -> Draft202012Validator:
    schema = data_schema(catalogue.EVENTS[event_type])
    return Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)


def hold_to_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validate every payload where it is published: what the shop tells, whether somebody hears it or not, test
    events, and those that have a path of their own."""
    for module, name in PUBLISHERS:
        monkeypatch.setattr(module, name, _validating(getattr(module, name)))
    for name, event_type in BUILDERS.items():
        monkeypatch.setattr(payloads, name, _valid(event_type, getattr(payloads, name)))


def _validating(publish: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*, event_type: str, data: Any, **rest: Any) -> Any:
        validate(event_type, data)
        return publish(event_type=event_type, data=data, **rest)

    return checked


def _valid(event_type: str, build: Callable[..., Any]) -> Callable[..., Any]:
    def checked(subject: Any, **about: Any) -> Any:
        data = build(subject, **about)
        validate(event_type, data)
        return data

    return checked
