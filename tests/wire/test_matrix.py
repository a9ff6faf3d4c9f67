"""What no endpoint may do, whatever it is sent: fail, or refuse in another shape than the contract's."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings as django_settings

from common.rest.bodies import MAX_BODY
from tests.endpoints_table import ENDPOINTS, LISTS, OF_KEYS, WITH_BODY, Endpoint
from tests.wire.bodies import BROKEN, strange_bodies
from tests.wire.calls import Call, problem
from tests.wire.sweep import rolled_back

pytestmark = [pytest.mark.django_db, pytest.mark.slow]  # some 20,000 requests

SHAPE = ("Contract 0 Conventions", "every JSON response >= 400 has the error shape")

QUERIES = (
    "page=0", "page=-1", "page=", "page=%20", "page=1.0", "page=1e3", "page=abc", "page=true", "page=NaN",
    "page=%00", "page=1%00", "page=%D9%A1", "page=%", "page=%zz", "page=%ff%fe", "page=" + "9" * 5_000,
    "limit=0", "limit=-5", "limit=" + "9" * 50, "page=1&page=2", "page[]=1", "page=1;limit=0", "&&&", "=", "=1",
    "%00=%00", "limit=1&limit=abc", "status=%00", "status=NOPE", "category=%00", "category=" + "x" * 5_000,
    "search=%00", "search=%25%5F%5C", "search=%F0%9F%A5%90", "search=%ED%A0%80", "isAvailable=1",
    "updatedSince=%00", "updatedSince=2026-13-01T00:00:00Z", "updatedSince=0001-01-01T00:00:00%2B23:59",
    "createdAfter=9999-12-31T23:59:59-23:59", "createdBefore=1", "event=%00", "installationId=%00",
    "productId=%00", "productId=%ED%A0%80", "days=0", "days=-1", "days=91", "days=1e1", "days=%00", "days=" + "9" * 5_000,
    "unknown=1",
)  # fmt: skip

IDS = (
    "%00", "a%00b", "%2F", "a%2Fb", "..%2F..%2Fetc", "%2e%2e", "%ff", "%ED%A0%80", "%F0%9F%A5%90", "%0D%0A", " ".replace(" ", "%20"),
    "0", "-1", "null", "x" * 10_000, "9" * 5_000, "%25", "%7B%7D", "a'b", "a%22b",
    "00000000-0000-0000-0000-000000000000", "0" * 32, "{00000000-0000-0000-0000-000000000000}".replace("{", "%7B").replace("}", "%7D"),
)  # fmt: skip

HEADERS = (
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer "},
    {"Authorization": "Bearer a b"},
    {"Authorization": "Bearer \xe9\xff"},
    {"Authorization": "Bearer a\x00b"},
    {"Authorization": "\xff\xfe"},
    {"Authorization": "Basic Og=="},
    {"Authorization": "Bearer " + "x" * 100_000},
    {"Authorization": "Bearer eyJhbGciOiJub25lIn0.e30."},
    {"Authorization": "Bearer ..."},
    {"Accept": "\xff"},
    {"Accept": "text/html, */*;q=nonsense"},
    {"Accept": "application/json;" * 2_000},
    {"Accept-Language": "\xff," * 500},
    {"Accept-Encoding": "\x00"},
    {"Cookie": f"{django_settings.SESSION_COOKIE_NAME}=\x00; {django_settings.CSRF_COOKIE_NAME}=\xff; =; ;;"},
    {"Idempotency-Key": ""},
    {"Idempotency-Key": "a\x00b"},
    {"Idempotency-Key": "\xff"},
    {"Idempotency-Key": "x" * 256},
    {"X-Forwarded-For": "\xff, \x00"},
    {"X-Forwarded-Proto": "nonsense"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"Expect": "100-continue"},
    {"Range": "bytes=0-0"},
    {"If-None-Match": "*"},
    {"Origin": "null"},
)

CONTENT_TYPES = (
    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=",
    "multipart/form-data; boundary=\xff", "application/json; charset=utf-16", "application/json; charset=nonsense", "application/xml",
    "application/problem+json", "*/*", "nonsense", ";", "\x00", "\xff", "application/json" * 1_000,
)  # fmt: skip


def each(cases: list[Endpoint]) -> Any:
    return pytest.mark.parametrize("endpoint", cases, ids=str)


def fill(body: bytes, places: dict[str, str]) -> bytes:
    return body.replace(b"{product_id}", places["product_id"].encode())


# Manifests, and the rows of a shop: a misspelt field would go unnoticed there.
REFUSE_UNKNOWN = ("/manifest", "/<id>", "/rows", "/snapshot")
READS_BODY = [endpoint for endpoint in WITH_BODY if endpoint.body]


@pytest.mark.spec(*SHAPE)
@each(WITH_BODY)
def test_strange_value_in_a_body_is_no_failure(
    endpoint: Endpoint, call: Call, places: dict[str, str]
) -> None:
    path, found = endpoint.path(places), {}
    for name, body in strange_bodies(endpoint.body or {"any": 1, "status": "x"}):
        if wrong := problem(call(endpoint, path, fill(body, places)), path):
            found[name] = wrong
    assert not found


@pytest.mark.spec(*SHAPE)
@each(WITH_BODY)
def test_body_that_is_no_json_object_is_no_failure(
    endpoint: Endpoint, call: Call, places: dict[str, str]
) -> None:
    """400 where a body is read; the calls without one may not even look at it."""
    path, found = endpoint.path(places), {}
    for name, body in BROKEN.items():
        answer = call(endpoint, path, body)
        wrong = problem(answer, path)
        if wrong or (endpoint.body and answer.status_code != 400):
            found[name] = wrong or answer.status_code
    assert not found


@pytest.mark.spec(*SHAPE)
@each(LISTS)
def test_odd_query_is_no_failure(endpoint: Endpoint, call: Call, places: dict[str, str]) -> None:
    path, found = endpoint.path(places), {}
    for query in QUERIES:
        if wrong := problem(call(endpoint, f"{path}?{query}"), path):
            found[query[:50]] = wrong
    assert not found


@pytest.mark.spec(*SHAPE)
@each([endpoint for endpoint in ENDPOINTS if endpoint.parameters])
def test_odd_id_in_a_path_is_no_failure(endpoint: Endpoint, call: Call, places: dict[str, str]) -> None:
    found = {}
    body = fill(json.dumps(endpoint.body).encode(), places)
    for name in endpoint.parameters:
        for odd in IDS:
            path = endpoint.path({key: quote(value) for key, value in places.items()} | {name: odd})
            answer = call(endpoint, path, body)
            if wrong := problem(answer, path):
                found[f"{name}={odd[:50]}"] = wrong
            elif answer.status_code < 400 and endpoint.root != OF_KEYS:  # whose shop gives ids itself
                found[f"{name}={odd[:50]}"] = answer.status_code
    assert not found


@pytest.mark.spec(*SHAPE)
@each(ENDPOINTS)
def test_odd_header_is_no_failure(endpoint: Endpoint, call: Call, places: dict[str, str]) -> None:
    path, found = endpoint.path(places), {}
    for headers in HEADERS:
        if wrong := problem(call(endpoint, path, b"{}", headers=headers), path):
            found[str(headers)[:60]] = wrong
    assert not found


@pytest.mark.spec(*SHAPE)
@each(WITH_BODY)
def test_odd_content_type_is_no_failure(endpoint: Endpoint, call: Call, places: dict[str, str]) -> None:
    path, found = endpoint.path(places), {}
    for content_type in CONTENT_TYPES:
        answer = call(endpoint, path, b'{"a": 1}', content_type=content_type)
        if wrong := problem(answer, path):
            found[content_type[:60]] = wrong
    assert not found


@pytest.mark.spec("Contract 9 Precise points", "JSON bodies over 1 MiB are 413")
@each(READS_BODY)
def test_body_over_1_mib_is_413(endpoint: Endpoint, call: Call, places: dict[str, str]) -> None:
    path = endpoint.path(places)
    answer = call(endpoint, path, b'{"any": "' + b"x" * MAX_BODY + b'"}')
    assert (answer.status_code, problem(answer, path)) == (413, None)
    assert b'"The body is larger than 1 MiB."' in answer.content


@pytest.mark.spec("Contract 9 Precise points", "Unknown query parameters and body keys are ignored")
@each([endpoint for endpoint in READS_BODY if not endpoint.route.endswith(REFUSE_UNKNOWN)])
def test_unknown_key_of_a_body_changes_nothing(
    endpoint: Endpoint, call: Call, places: dict[str, str]
) -> None:
    """The second answer may find what the first has done: both come to the same class of status, field by field."""
    path, good = endpoint.path(places), fill(json.dumps(endpoint.body).encode(), places)
    answers = []
    for body in (good, b'{"unheardOf": {"a": [1]}, ' + good[1:]):
        with rolled_back():
            answers.append(call(endpoint, path, body))
    assert answers[0].status_code == answers[1].status_code
    assert (
        answers[0].json().get("details") == answers[1].json().get("details") if answers[0].content else True
    )
