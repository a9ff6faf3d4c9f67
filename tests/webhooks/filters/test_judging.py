"""Which events pass a filter: by what is written for them, against an oracle that knows only the contract."""

import random
from collections import Counter
from typing import Any

import orjson
import pytest

from accounts.models import Business
from installations.models import Installation
from tests.webhooks import helpers
from tests.webhooks.filters import oracle, pairs
from webhooks.filters import fields
from webhooks.filters.judging import passed, stopped_by
from webhooks.filters.rules import problems_of
from webhooks.models import Delivery
from webhooks.services.publishing import publish

RULE = "Contract 19 Filters"
URL = "https://app.example.com/hooks"
EVENTS = list(oracle.FIELDS)
FILTERS, ROUNDS = 50, 5  # 50 webhooks and 40 events are 2,000 pairs


def passes(text: str, name: str, data: dict[str, Any]) -> bool:
    return passed([text], name, data) == {text}


@pytest.mark.long
@pytest.mark.spec(RULE, "An event is delivered to a webhook with a filter exactly if it passes")
def test_deliveries_are_those_of_the_oracle(installation: Installation, sandbox: Business) -> None:
    dice = random.Random(19)
    documents = [pairs.filter_of(dice) for _ in range(FILTERS)]
    assert [problem for each in documents for problem in problems_of(each, EVENTS)] == []
    texts = [orjson.dumps(each).decode() for each in documents]
    webhooks = [helpers.webhook(installation, URL, EVENTS, filter=text) for text in texts]
    outcomes: Counter[bool] = Counter()
    for name in EVENTS * ROUNDS:
        data = pairs.data_of(dice, name)
        event = publish(business_id=sandbox.pk, event_type=name, data=data)
        assert event is not None
        reached = set(Delivery.objects.filter(event=event).values_list("webhook", flat=True))
        expected = {
            webhook.pk
            for webhook, text in zip(webhooks, texts, strict=True)
            if oracle.passes(text, name, event.data)
        }
        assert reached == expected, (name, data)
        outcomes.update(webhook.pk in reached for webhook in webhooks)
    assert outcomes.total() == 2_000
    assert min(outcomes.values()) > 400  # neither answer is right by chance


# Nested objects and lists of them, which no event has, and settings, whose fields the schema doesn't name.
SCHEMA = {
    "properties": {
        "lines": {
            "type": "array",
            "items": {
                "properties": {
                    "name": {"type": "string"},
                    "sizes": {"type": "array", "items": {"type": "integer"}},
                }
            },
        },
        "customer": {"type": ["object", "null"], "properties": {"email": {"type": ["string", "null"]}}},
        "at": {"anyOf": [{"type": "string"}, {"type": "null"}], "format": "date-time"},
        "settings": {"type": "object"},
    }
}
DATA = {
    "lines": [{"name": "rye", "sizes": [1, 2]}, {"name": "oat", "sizes": []}, {"sizes": [None]}, "odd"],
    "customer": {"email": "kim@example.com"},
    "at": "2026-11-20T15:04:05.123Z",
    "settings": {
        "color": "red",
        "deep": {"on": True, "list": [{"n": 1}, {"n": 2}]},
        "none": None,
        "empty": [],
    },
}


@pytest.fixture
def _nested(monkeypatch: pytest.MonkeyPatch) -> Any:
    schema_of = fields.schema_of
    monkeypatch.setattr(
        fields, "schema_of", lambda name: SCHEMA if name == "order.created" else schema_of(name)
    )
    fields.field_of.cache_clear()
    yield
    fields.field_of.cache_clear()


@pytest.mark.usefixtures("_nested")
@pytest.mark.spec(
    RULE, "A path leads into objects and over the elements of lists; below settings every path is known"
)
@pytest.mark.parametrize(
    ("field", "op", "value", "holds"),
    [
        ("lines[].name", "eq", "oat", True),
        ("lines[].name", "ne", "oat", True),
        ("lines[].name", "eq", "bun", False),
        ("lines[].sizes[]", "gt", 1, True),
        ("lines[].sizes[]", "gt", 2, False),
        ("lines[].sizes", "contains", 2, True),
        ("lines[].sizes", "contains", 3, False),
        ("lines[].sizes", "eq", 1, False),
        ("lines[].sizes", "ne", 1, True),
        ("lines", "exists", True, True),
        ("lines[]", "contains", "od", True),
        ("customer.email", "contains", "@example", True),
        ("customer.email", "contains", "@EXAMPLE", False),
        ("customer", "exists", True, True),
        ("customer", "eq", "kim@example.com", False),
        ("customer", "ne", "kim@example.com", True),
        ("at", "eq", "2026-11-20T16:04:05.1230+01:00", True),
        ("at", "lt", "2026-11-20T15:04:05.1230001Z", True),
        ("at", "gte", "2026-11-20T15:04:05.124Z", False),
        ("settings.color", "in", ["blue", "red"], True),
        ("settings.deep.on", "eq", True, True),
        ("settings.deep.on", "eq", 1, False),
        ("settings.deep.on", "eq", "true", False),
        ("settings.deep.list[].n", "gte", 2, True),
        ("settings.deep.list.n", "exists", True, False),
        ("settings.deep.list.n", "exists", False, True),
        ("settings.none", "exists", False, True),
        ("settings.absent", "exists", False, True),
        ("settings.empty", "exists", False, True),
        ("settings.empty", "exists", True, False),
        ("settings.empty", "ne", 1, False),
        ("settings.empty[]", "exists", False, True),
        ("settings.absent", "ne", "red", False),
    ],
)
def test_path(field: str, op: str, value: Any, holds: bool) -> None:
    document = {"all": [{"field": field, "op": op, "value": value}]}
    assert problems_of(document, ["order.created"]) == []
    assert passes(orjson.dumps(document).decode(), "order.created", DATA) is holds


@pytest.mark.spec(RULE, "The condition that stops an event is named as field op value")
@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"all": [{"field": "isGuest", "op": "eq", "value": True}]}, ""),
        ({"all": [{"field": "amount", "op": "gt", "value": 28.5}]}, "amount gt 28.5"),
        (
            {"all": [{"field": "amount", "op": "gt", "value": 1}, {"field": "paymentMethod", "op": "eq", "value": "CASH"}]},
            "paymentMethod eq CASH",
        ),
        (
            {"any": [{"field": "amount", "op": "lt", "value": 1}, {"field": "isGuest", "op": "eq", "value": False}]},
            "amount lt 1 or isGuest eq false",
        ),
        ({"all": [{"field": "stock", "op": "exists"}]}, "stock exists true"),
        ({"all": [{"field": "paymentMethod", "op": "in", "value": ["CASH", 1]}]}, 'paymentMethod in ["CASH",1]'),
    ],
)  # fmt: skip
def test_condition_in_words(document: dict[str, Any], named: str) -> None:
    example = {"amount": 28.5, "isGuest": True, "paymentMethod": "CARD"}
    assert stopped_by(orjson.dumps(document).decode(), "order.created", example) == named


def test_changed_in_words() -> None:
    text = '{"changed": ["price", "stock"]}'
    assert stopped_by(text, "product.updated", {"changedFields": ["name"]}) == "changed price, stock"
    assert stopped_by(text, "product.updated", {"changedFields": ["name", "stock"]}) == ""
    assert stopped_by(text, "product.created", {"name": "Tea"}) == ""


@pytest.mark.spec(RULE, "A value that the schema promised otherwise stops the event, and nothing fails")
def test_time_that_is_none_is_in_no_order() -> None:
    text = orjson.dumps(
        {"all": [{"field": "createdAt", "op": "ne", "value": "2026-11-20T15:04:05Z"}]}
    ).decode()
    assert passes(text, "order.created", {"createdAt": "yesterday"})
    assert not passes(text, "order.created", {"createdAt": "2026-11-20T16:04:05+01:00"})
