"""`make lint` knows a change of the wire contract that breaks apps from one that doesn't.

Each change here is made to the contract of the release, as somebody would make it by mistake or on purpose.
"""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tools.contract_changes import DECIDED, FOLDER, allowed, breaking, newest, refused

Document = dict[str, Any]
Change = Callable[[Document], Any]

RELEASED = newest(FOLDER)
CONTRACT: Document = json.loads((FOLDER / f"{RELEASED}.json").read_text())


def schema(document: Document, name: str) -> Any:
    return document["components"]["schemas"][name]


def operation(document: Document, path: str, method: str = "get") -> Any:
    return document["paths"][path][method]


def parameter(document: Document, path: str, name: str) -> Any:
    return next(p for p in operation(document, path)["parameters"] if p["name"] == name)


def feed_types(document: Document, old: str, new: str) -> None:
    """Change the names of events in the pattern of the feed's `type`."""
    found = parameter(document, "/app-api/events", "type")["schema"]
    assert old in found["pattern"]
    found["pattern"] = found["pattern"].replace(old, new)


def order_body(document: Document) -> Any:
    found = operation(document, "/app-api/orders", "post")["requestBody"]["content"]["application/json"][
        "schema"
    ]
    return schema(document, found["$ref"].rpartition("/")[2])


def event(document: Document) -> Any:
    """The body of `order.created`."""
    found = document["webhooks"]["order.created"]["post"]["requestBody"]["content"]["application/json"][
        "schema"
    ]
    return schema(document, found["$ref"].rpartition("/")[2]) if "$ref" in found else found


def verdict(document: Document) -> Any:
    """What an app answers to `order.validate`."""
    answers = document["webhooks"]["order.validate"]["post"]["responses"]
    found = answers["2XX"]["content"]["application/json"]["schema"]
    return schema(document, found["$ref"].rpartition("/")[2]) if "$ref" in found else found


BREAKING: dict[str, Change] = {
    "an operation is gone": lambda d: d["paths"].pop("/app-api/reviews/stats"),
    "a method is gone": lambda d: d["paths"]["/webhooks"].pop("post"),
    "an event that the feed can't be asked for": lambda d: feed_types(d, "order\\.created|", ""),
    "another pattern": lambda d: feed_types(d, "^", "^x"),
    "a filter is gone": lambda d: operation(d, "/app-api/products")["parameters"].remove(
        parameter(d, "/app-api/products", "category")
    ),
    "a filter is required": lambda d: parameter(d, "/app-api/products", "category").update(required=True),
    "a field of a record is gone": lambda d: schema(d, "Product")["properties"].pop("price"),
    "a field of a record may be missing": lambda d: schema(d, "Product")["required"].remove("price"),
    "a field of a record may be null": lambda d: schema(d, "Product")["properties"]["name"].update(
        type=["string", "null"]
    ),
    "a field of a record has another type": lambda d: schema(d, "Product")["properties"]["price"].update(
        type="string"
    ),
    "an input is new and required": lambda d: (
        order_body(d)["properties"].update(channel={"type": "string"}),
        order_body(d)["required"].append("channel"),
    ),
    "an input is shorter": lambda d: order_body(d)["properties"]["note"].update(maxLength=5),
    "a value is no longer accepted": lambda d: parameter(d, "/app-api/orders", "status")["schema"][
        "enum"
    ].remove("READY"),
    "a default differs": lambda d: parameter(d, "/app-api/orders", "limit")["schema"].update(default=10),
    "another status of success": lambda d: operation(d, "/app-api/orders", "post")["responses"].update(
        {"200": operation(d, "/app-api/orders", "post")["responses"].pop("201")}
    ),
    "another scope is needed": lambda d: operation(d, "/app-api/products").update(
        security=[{"accessToken": ["read_orders"]}]
    ),
    "an answer lacks a header": lambda d: operation(d, "/app-api/products")["responses"]["200"][
        "headers"
    ].pop("X-RateLimit-Remaining"),
    "an event is gone": lambda d: d["webhooks"].pop("order.delivered"),
    "an event lacks a field": lambda d: event(d)["properties"].pop("timestamp"),
    "a delivery lacks a header": lambda d: d["webhooks"]["order.created"]["post"]["parameters"].pop(0),
    "a hook wants more in the answer": lambda d: verdict(d).update(
        required=[*verdict(d).get("required", []), "checkedAt"]
    ),
    "a hook accepts one status alone": lambda d: d["webhooks"]["order.validate"]["post"]["responses"].update(
        {"201": d["webhooks"]["order.validate"]["post"]["responses"].pop("2XX")}
    ),
}

ADDITIONS: dict[str, Change] = {
    "an operation": lambda d: d["paths"].update({"/app-api/customers": operation(d, "/app-api/products")}),
    "a filter": lambda d: operation(d, "/app-api/products")["parameters"].append(
        {"in": "query", "name": "minPrice", "schema": {"type": "number"}}
    ),
    "a field of a record": lambda d: schema(d, "Product")["properties"].update(weight={"type": "number"}),
    "a field that is always there": lambda d: schema(d, "Error")["required"].append("details"),
    "an input": lambda d: order_body(d)["properties"].update(channel={"type": "string"}),
    "a longer input": lambda d: order_body(d)["properties"]["note"].update(maxLength=100_000),
    "a value of an input": lambda d: parameter(d, "/app-api/orders", "status")["schema"]["enum"].append(
        "RETURNED"
    ),
    "a status of failure": lambda d: operation(d, "/app-api/products")["responses"].update(
        {"451": operation(d, "/app-api/products")["responses"]["401"]}
    ),
    "a header": lambda d: operation(d, "/app-api/products")["responses"]["200"]["headers"].update(
        Deprecation={"schema": {"type": "string"}}
    ),
    "an event": lambda d: d["webhooks"].update({"order.returned": d["webhooks"]["order.created"]}),
    "an event that the feed can be asked for": lambda d: feed_types(
        d, "order\\.created|", "order\\.created|order\\.returned|"
    ),
    "a field of an event": lambda d: event(d)["properties"].update(channel={"type": "string"}),
    "a header of deliveries": lambda d: d["webhooks"]["order.created"]["post"]["parameters"].append(
        {"in": "header", "name": "X-Webhook-Region", "required": True, "schema": {"type": "string"}}
    ),
}


def changes(change: Change) -> list[str]:
    document = deepcopy(CONTRACT)
    change(document)
    assert document != CONTRACT
    return list(breaking(CONTRACT, document))


@pytest.mark.parametrize("name", BREAKING)
def test_change_that_breaks_apps_is_named(name: str) -> None:
    assert changes(BREAKING[name])


@pytest.mark.long
@pytest.mark.parametrize("name", ADDITIONS)
def test_addition_is_none(name: str) -> None:
    assert changes(ADDITIONS[name]) == []


def test_line_says_where_and_what() -> None:
    assert changes(BREAKING["an input is shorter"]) == [
        "POST /app-api/orders: body.note: maxLength 2000 is now 5"
    ]


@pytest.mark.parametrize(
    ("version", "released", "may_break"),
    [
        ("0.1.3", "v0.1.0", False),
        ("0.2.0", "v0.1.0", True),
        ("1.4.0", "v1.3.0", False),
        ("2.0.0", "v1.3.0", True),
    ],
)
def test_version_says_whether_the_contract_may_break(version: str, released: str, may_break: bool) -> None:
    assert allowed(version, released) == may_break


GONE = "GET /app-api/reviews/stats: removed"
HEAD = "GET /app-api/products: 200: header X-Request-Id removed"


@pytest.mark.spec(
    "Contract 18 Contract 1.0", "Fields, calls and headers are only added; what goes is marked before"
)
@pytest.mark.parametrize(
    ("version", "released", "found", "expected"),
    [
        ("0.2.0", "v0.2.0", [GONE], [GONE]),  # nothing was decided
        ("1.0.0", "v0.2.0", [GONE], [GONE]),  # a new number alone breaks nothing
        ("1.0.0", "v0.2.0", [min(DECIDED)], []),
        ("0.2.1", "v0.2.0", [min(DECIDED)], [min(DECIDED)]),  # a number that announces nothing
        ("1.4.0", "v1.3.0", [HEAD], [HEAD]),
        ("1.0.0.dev0", "v0.2.0", [GONE], [GONE]),
        ("0.2.1.dev0", "v0.2.0", [min(DECIDED)], []),  # the release's number decides
        ("2.0.0", "v1.3.0", [HEAD], [HEAD]),
    ],
)
def test_change_needs_a_decision_and_a_number(
    version: str, released: str, found: list[str], expected: list[str]
) -> None:
    assert refused(CONTRACT, found, version, released) == expected


def test_operation_of_1_x_goes_only_after_it_was_deprecated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.contract_changes.DECIDED", {GONE})
    marked = deepcopy(CONTRACT)
    operation(marked, "/app-api/reviews/stats")["deprecated"] = True
    assert refused(CONTRACT, [GONE], "2.0.0", "v1.9.0") == [GONE]
    assert refused(marked, [GONE], "2.0.0", "v1.9.0") == []
    assert refused(marked, [GONE], "1.10.0", "v1.9.0") == [GONE]
