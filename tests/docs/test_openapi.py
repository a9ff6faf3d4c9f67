"""The OpenAPI document: valid, complete, and of one mind with the code."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from appapi import reference
from common.api_reference import Operation
from common.middleware import is_api_path
from config.docs import openapi, tables
from config.docs.examples import resolved
from config.docs.paths import scope_of
from extensions.hooks.schemas import ANSWER_SCHEMAS, REQUEST_SCHEMAS
from installations.authentication import scope_needed
from marketplace.scopes import SCOPES
from stores.hookpoints import HookPoint
from webhooks.catalogue import EVENTS

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi.document()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, entry in item.items():
            yield method.upper(), path, entry


def served(patterns: list[Any], prefix: str = "/") -> Iterator[tuple[str, Any]]:
    """Every route with its path in the document's spelling, and the view class."""
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from served(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            yield openapi.camelized(re.sub(r"<\w+:(\w+)>", r"{\1}", path)), pattern.callback


def methods_of(callback: Any) -> set[str]:
    view = getattr(callback, "cls", None) or getattr(callback, "view_class", None)
    if view is None:
        return {"GET"}  # a function that `require_safe` guards
    return {name.upper() for name in view.http_method_names if hasattr(view, name)} & set(METHODS)


@pytest.mark.spec("Contract 7 Pages", "The OpenAPI 3.1 document is at /docs/openapi.json")
def test_document_is_served_and_valid(client: Client, document: dict[str, Any]) -> None:
    response = client.get("/docs/openapi.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response["Access-Control-Allow-Origin"] == "*"
    assert response.json() == document
    assert document["openapi"].startswith("3.1")
    validate_schema(document)


def test_every_schema_is_a_valid_json_schema_and_fits_its_examples(document: dict[str, Any]) -> None:
    root = _localized({"$defs": document["components"]["schemas"]})
    Draft202012Validator.check_schema(root)
    for name, schema in root["$defs"].items():
        checker = Draft202012Validator.FORMAT_CHECKER
        validator = Draft202012Validator({**schema, **root}, format_checker=checker)
        for example in schema.get("examples", []):
            assert list(validator.iter_errors(example)) == [], name


def _localized(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _localized(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_localized(value) for value in schema]
    return schema.replace("#/components/schemas/", "#/$defs/") if isinstance(schema, str) else schema


def test_every_body_and_answer_has_an_example_that_fits(document: dict[str, Any]) -> None:
    root = {"$defs": document["components"]["schemas"]}
    for method, path, entry in operations(document):
        contents = [entry.get("requestBody", {}).get("content", {})]
        contents += [response.get("content", {}) for response in entry["responses"].values()]
        for content in contents:
            for kind, media in content.items():
                if kind == "multipart/form-data":
                    continue
                schema = _localized({**media["schema"], **root})
                errors = list(Draft202012Validator(schema).iter_errors(media["example"]))
                assert errors == [], (method, path, kind)


@pytest.mark.spec("Contract 7 Pages", "Every endpoint of the APIs is in the document, and nothing else")
def test_document_and_url_conf_name_the_same_endpoints(document: dict[str, Any]) -> None:
    routes = {
        (method, path)
        for path, callback in served(get_resolver().url_patterns)
        if is_api_path(path) and "(" not in path
        for method in methods_of(callback)
    }
    assert {(method, path) for method, path, _ in operations(document)} == routes


def test_endpoint_without_a_description_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {key: value for key, value in tables.OPERATIONS.items() if key != "GET /app-api/orders"}
    monkeypatch.setattr(tables, "OPERATIONS", fewer)
    with pytest.raises(openapi.UndescribedEndpoint, match="GET /app-api/orders is in no table"):
        openapi.document.__wrapped__()


def test_description_without_an_endpoint_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    spare = {"GET /app-api/customers": Operation("listCustomers", reference.ORDERS, "List customers")}
    monkeypatch.setattr(tables, "OPERATIONS", tables.OPERATIONS | spare)
    with pytest.raises(openapi.UndescribedEndpoint, match="No endpoint belongs to GET /app-api/customers"):
        openapi.document.__wrapped__()


@pytest.mark.spec("Contract 3 OAuth", "One table ties each scope to its endpoints, and the document reads it")
def test_scopes_in_the_document_are_those_that_the_views_ask_for(document: dict[str, Any]) -> None:
    views = {
        (method, path): callback.cls
        for path, callback in served(get_resolver().url_patterns)
        if path.startswith(("/app-api/", "/webhooks")) and "(" not in path
        for method in methods_of(callback)
    }
    for (method, path), view in views.items():
        asked = scope_needed(method, view())
        assert scope_of(method, path) == asked, (method, path)
        assert document["paths"][path][method.lower()]["security"] == [
            {"accessToken": [asked] if asked else []}
        ]


def test_each_endpoint_of_the_scope_table_that_is_served_is_found(document: dict[str, Any]) -> None:
    spelled = {re.sub(r"\{\w+\}", ":", f"{method} {path}") for method, path, _ in operations(document)}
    tied = {re.sub(r":\w+", ":", endpoint) for scope in SCOPES.values() for endpoint in scope.endpoints}
    assert tied <= spelled


@pytest.mark.spec("Contract 0 Conventions", "Rate headers on every response of /app-api and /webhooks")
def test_rate_headers_and_errors_stand_at_every_answer(document: dict[str, Any]) -> None:
    for method, path, entry in operations(document):
        limited = path.startswith(("/app-api", "/webhooks"))
        for status, response in entry["responses"].items():
            names = response.get("headers", {}).keys()
            assert (names >= {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}) == limited
            assert ("Retry-After" in names) == (status in ("429", "503")), (method, path, status)
            if status >= "400" and path != "/oauth/token":
                assert response["content"]["application/json"]["schema"] == {
                    "$ref": "#/components/schemas/Error"
                }
        if entry["security"]:
            assert "401" in entry["responses"]
        if limited:
            assert "429" in entry["responses"]


@pytest.mark.spec(
    "Contract 5 Webhooks", "Every event has its JSON Schema and an example in the document's webhooks"
)
def test_webhooks_hold_every_event_and_hook(document: dict[str, Any]) -> None:
    assert list(document["webhooks"]) == [*EVENTS, *map(str, HookPoint)]
    for name, event in EVENTS.items():
        media = document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]
        data = resolved(media["schema"]["properties"]["data"], document)
        assert data["properties"] == event.schema["properties"]
        Draft202012Validator(data).validate(media["example"]["data"])
        assert media["example"]["event"] == name
    for point in HookPoint:
        call = document["webhooks"][point]["post"]
        media = call["requestBody"]["content"]["application/json"]
        assert media["schema"]["properties"]["data"]["properties"] == REQUEST_SCHEMAS[point]["properties"]
        answer = call["responses"]["2XX"]["content"]["application/json"]["schema"]
        assert answer == ANSWER_SCHEMAS[point]


def test_operation_ids_and_summaries_are_there_once(document: dict[str, Any]) -> None:
    ids = [entry["operationId"] for _, _, entry in operations(document)]
    assert len(ids) == len(set(ids))
    assert all(entry["summary"] and entry["tags"] for _, _, entry in operations(document))
