"""The OpenAPI document: valid, complete, and in agreement with the code."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema
from jsonschema import Draft202012Validator

from accounts.api.views import RefreshView
from appapi.views.orders import OrderList
from common.web.errors import is_api_path
from developers.docs.openapi import document as openapi
from developers.docs.openapi.calls import data_schema
from developers.docs.openapi.samples import PARAMETER, example_in
from developers.docs.reference import resolved
from extensions.hooks.schemas import ANSWER_SCHEMAS, REQUEST_SCHEMAS
from extensions.manifest import problems_of_manifest
from installations.authentication import scope_needed
from marketplace.scopes import SCOPES
from stores.hookpoints import HookPoint
from tests.documented import SCHEMAS
from tests.extensions.manifests import block, widget
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
            yield re.sub(r"<\w+:(\w+)>", lambda found: f"{{{camelized(found[1])}}}", path), pattern.callback


def camelized(name: str) -> str:
    return re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)


def methods_of(callback: Any) -> set[str]:
    view = getattr(callback, "cls", None) or getattr(callback, "view_class", None)
    if view is None:
        return {"GET"}  # a function that `require_safe` guards
    return {name.upper() for name in view.http_method_names if hasattr(view, name)} & set(METHODS)


@pytest.mark.long
@pytest.mark.spec("Contract 7 Pages", "The OpenAPI 3.1 document is at /docs/openapi.json")
def test_document_is_served_and_valid(client: Client, document: dict[str, Any]) -> None:
    response = client.get("/docs/openapi.json")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response["Access-Control-Allow-Origin"] == "*"
    assert response.json() == client.get("/docs/openapi.json/").json() == document
    assert document["openapi"].startswith("3.1")
    validate_schema(document)


@pytest.mark.long
def test_making_the_document_warns_of_nothing() -> None:
    openapi.document.__wrapped__()
    assert not GENERATOR_STATS


@pytest.mark.long
def test_every_schema_is_a_valid_json_schema_and_fits_its_examples(document: dict[str, Any]) -> None:
    root = _localized({"$defs": document["components"]["schemas"]})
    Draft202012Validator.check_schema(root)
    for name, schema in root["$defs"].items():
        for part in (schema, *schema.get("properties", {}).values()):
            checker = Draft202012Validator.FORMAT_CHECKER
            validator = Draft202012Validator({**part, **root}, format_checker=checker)
            for example in part.get("examples", []):
                assert list(validator.iter_errors(example)) == [], name


def test_every_default_fits_its_schema(document: dict[str, Any]) -> None:
    """Validators of documents check them with their formats."""
    localized = _localized(document)
    root = {"$defs": localized["components"]["schemas"]}
    found = [
        part for part in _parts(localized) if isinstance(part, dict) and "default" in part and "type" in part
    ]
    assert found
    for part in found:
        validator = Draft202012Validator({**part, **root}, format_checker=Draft202012Validator.FORMAT_CHECKER)
        assert list(validator.iter_errors(part["default"])) == [], part


def _parts(schema: Any) -> Iterator[Any]:
    yield schema
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _parts(each)


def test_manifest_that_a_save_accepts_fits_the_document(document: dict[str, Any]) -> None:
    """With what the fields may hold that are of another kind of embed."""
    url = "https://stars.example.com/b"
    unused = [
        {"scriptUrl": None},
        {"scriptUrl": "", "integrity": ""},
        {"scriptUrl": "later", "integrity": "later"},
    ]
    embeds = [widget(embedType=f"chat{number}", renderUrl=url, **each) for number, each in enumerate(unused)]
    manifest = {"blocks": [block(renderUrl=url)], "embeds": embeds}
    assert problems_of_manifest(manifest) == []
    schemas = document["components"]["schemas"]
    validator = Draft202012Validator(_localized({**schemas["ManifestDocument"], "$defs": schemas}))
    assert list(validator.iter_errors(manifest)) == []


def _localized(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _localized(value) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_localized(value) for value in schema]
    return schema.replace(SCHEMAS, "#/$defs/") if isinstance(schema, str) else schema


@pytest.mark.long
def test_every_body_and_response_has_an_example_that_fits(document: dict[str, Any]) -> None:
    root = {"$defs": document["components"]["schemas"]}
    for method, path, entry in operations(document):
        contents = [entry.get("requestBody", {}).get("content", {})]
        contents += [response.get("content", {}) for response in entry["responses"].values()]
        for content in contents:
            for kind, media in content.items():
                if kind == "application/gzip":
                    continue
                schema = _localized({**media["schema"], **root})
                errors = list(Draft202012Validator(schema).iter_errors(example_in(media)))
                assert errors == [], (method, path, kind)


def test_example_of_a_page_is_what_the_sample_call_asks_for(document: dict[str, Any]) -> None:
    for _, path, entry in operations(document):
        asked = {each["name"]: each["schema"]["examples"][0] for each in entry["parameters"]}
        if {"page", "limit"} <= asked.keys():
            page = example_in(entry["responses"]["200"]["content"]["application/json"])
            assert {"page": page["page"], "limit": page["limit"]} == {
                name: asked[name] for name in ("page", "limit")
            }, path


@pytest.mark.spec("Contract 7 Pages", "Every endpoint of the APIs is in the document, and nothing else")
def test_document_and_url_conf_name_the_same_endpoints(document: dict[str, Any]) -> None:
    routes = {
        (method, path)
        for path, callback in served(get_resolver().url_patterns)
        if is_api_path(path) and "(" not in path and path != "/.well-known/security.txt"  # for people
        for method in methods_of(callback)
    }
    assert {(method, path) for method, path, _ in operations(document)} == routes


@pytest.mark.parametrize("handler", [OrderList.get, RefreshView.post])
def test_endpoint_without_a_description_is_an_error(monkeypatch: pytest.MonkeyPatch, handler: Any) -> None:
    monkeypatch.delattr(handler, "kwargs")
    with pytest.raises(openapi.UndescribedEndpoint, match=handler.__qualname__):
        openapi.document.__wrapped__()


@pytest.mark.spec("Contract 3 OAuth", "One table ties each scope to its endpoints, and the document reads it")
def test_scopes_in_the_document_are_those_of_the_table(document: dict[str, Any]) -> None:
    tied = {
        re.sub(r":\w+", "{}", endpoint): scope.name
        for scope in SCOPES.values()
        for endpoint in scope.endpoints
    }
    for method, path, entry in operations(document):
        if path.startswith(("/app-api/", "/webhooks")):
            scope = tied.pop(PARAMETER.sub("{}", f"{method} {path}"), None)
            assert entry["security"] == [{"accessToken": [scope] if scope else []}]
            assert (f"Needs the scope `{scope}`." in entry["description"]) == (scope is not None)
    assert tied == {}


def test_scopes_in_the_document_are_those_that_the_views_ask_for(document: dict[str, Any]) -> None:
    for path, callback in served(get_resolver().url_patterns):
        if path.startswith(("/app-api/", "/webhooks")) and "(" not in path:
            for method in methods_of(callback):
                asked = scope_needed(method, callback.cls())
                security = document["paths"][path][method.lower()]["security"]
                assert security == [{"accessToken": [asked] if asked else []}]


@pytest.mark.spec("Contract 0 Conventions", "Rate headers on every response of /app-api and /webhooks")
def test_rate_headers_and_errors_are_at_every_response(document: dict[str, Any]) -> None:
    for method, path, entry in operations(document):
        limited = path.startswith(("/app-api", "/webhooks", "/store-api"))
        for status, response in entry["responses"].items():
            names = response.get("headers", {}).keys()
            assert "X-Request-Id" in names
            assert (names >= {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"}) == limited
            assert ("Retry-After" in names) == (status in ("429", "503")), (method, path, status)
            if status >= "400":
                schema = "OAuthError" if path in ("/oauth/token", "/developer/device/token") else "Error"
                assert response["content"]["application/json"]["schema"] == {"$ref": SCHEMAS + schema}
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
        assert data == data_schema(event)
        Draft202012Validator(data).validate(example_in(media)["data"])
        assert example_in(media)["event"] == name
    for point in HookPoint:
        call = document["webhooks"][point]["post"]
        media = call["requestBody"]["content"]["application/json"]
        data = media["schema"]["properties"]["data"]
        assert data["properties"] == REQUEST_SCHEMAS[point]["properties"]
        assert data["description"] == "The fields of the hook point."
        answer = call["responses"]["2XX"]["content"]["application/json"]["schema"]
        assert answer == ANSWER_SCHEMAS[point]


def test_operation_ids_and_summaries_are_there_once(document: dict[str, Any]) -> None:
    ids = [entry["operationId"] for _, _, entry in operations(document)]
    assert len(ids) == len(set(ids))
    assert all(entry["summary"] and entry["tags"] for _, _, entry in operations(document))


def test_heading_of_every_operation_is_explained(document: dict[str, Any]) -> None:
    used = {tag for _, _, entry in operations(document) for tag in entry["tags"]}
    used |= {tag for item in document["webhooks"].values() for tag in item["post"]["tags"]}
    assert used == {tag["name"] for tag in document["tags"]}


@pytest.mark.long
def test_first_requests_of_a_process_make_the_document_at_once() -> None:
    """The library looks for its own parts while it makes its first document."""
    program = (
        "import django; django.setup()\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from developers.docs.openapi.document import document\n"
        "with ThreadPoolExecutor(8) as threads:\n"
        "    paths = {len(made.result()['paths']) for made in [threads.submit(document) for _ in range(8)]}\n"
        "assert len(paths) == 1, paths\n"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run([sys.executable, "-c", program], check=True, cwd=settings.BASE_DIR, env=environment)
