"""The callers who are let in, and the errors of all others."""

import gzip
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from accounts.models import Business
from extensions.models import Manifest
from installations.models import Installation
from tests import factories

JSON = "application/json"


@pytest.mark.spec("Authentication", "No token, a wrong one, or a token elsewhere than in the header is a 401")
def test_call_without_a_good_token_in_the_header_is_401(anonymous: Client, installation: Any) -> None:
    path = "/app-api/installation"
    token = installation.raw_token
    elsewhere = f"{path}?access_token={token}&token={token}"
    for headers in (
        {},
        {"Authorization": token},
        {"Authorization": f"Basic {token}"},
        {"Authorization": f"Bearer {token}x"},
        {"X-Access-Token": token},
    ):
        answer = anonymous.get(elsewhere, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert answer.json()["error"] == "Unauthorized"


@pytest.mark.spec("Authentication", "After the uninstall the token is revoked and calls are 401")
def test_token_of_an_ended_installation_is_401(api: Client, installation: Installation) -> None:
    assert api.get("/app-api/installation").status_code == 200
    Installation.objects.filter(pk=installation.pk).update(token_digest=None)
    answer = api.get("/app-api/installation")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer ")


@pytest.mark.spec("Installation", "An app reads its own installation: ids, kind, scopes in effect, settings")
def test_installation_record(dana: Any, sandbox: Business) -> None:
    installation = factories.installation(
        factories.app(dana, scopes=["write_orders", "read_products"]), sandbox, settings={"color": "#aabbcc"}
    )
    headers = {"Authorization": f"Bearer {installation.raw_token}"}
    record = Client().get("/app-api/installation", headers=headers).json()
    assert record.pop("installedAt").endswith("Z")
    assert record == {
        "installationId": str(installation.pk),
        "businessId": str(sandbox.pk),
        "isTestInstall": True,
        "needsReConsent": False,
        "scopes": ["read_products", "write_orders"],
        "settings": {"color": "#aabbcc"},
    }


@pytest.mark.spec("Installation", "settings are the schema's defaults overlaid by the merchant's values")
def test_settings_are_defaults_overlaid_by_the_merchants_values(
    api: Client, installation: Installation
) -> None:
    schema = {
        "type": "object",
        "properties": {
            "color": {"type": "string", "default": "#000000"},
            "size": {"type": "integer", "default": 3},
            "title": {"type": "string"},
            "labels": {"type": "object", "properties": {"on": {"default": "On"}, "off": {"default": "Off"}}},
        },
    }
    Manifest.objects.create(app=installation.app, document={"settingsSchema": schema})
    chosen = {"color": "#aabbcc", "labels": {"off": "Closed"}}
    Installation.objects.filter(pk=installation.pk).update(settings=chosen)
    assert api.get("/app-api/installation").json()["settings"] == {
        "color": "#aabbcc",
        "size": 3,
        "labels": {"on": "On", "off": "Closed"},
    }


def test_trailing_slash_works_on_webhooks(api: Client) -> None:
    assert api.post("/webhooks/", {}, content_type=JSON).status_code == 400
    assert api.post("/webhooks/x/test/").status_code == 404


@pytest.mark.spec("Errors", "A wrong method is a 405 that lists the right ones")
@pytest.mark.parametrize(("method", "path"), [("DELETE", "/app-api/products"), ("PUT", "/app-api/orders")])
def test_wrong_method_is_405(api: Client, method: str, path: str) -> None:
    answer = api.generic(method, path)
    assert (answer.status_code, answer.json()["error"]) == (405, "Method Not Allowed")
    assert "GET" in answer.headers["Allow"]


def test_options_lists_the_methods(api: Client) -> None:
    answer = api.options("/app-api/orders")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS"


def test_head_answers_as_get_without_a_body(api: Client) -> None:
    answer = api.head("/app-api/products")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Type"] == JSON


def test_answer_is_json_whatever_is_accepted(api: Client) -> None:
    answer = api.get("/app-api/nothing", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, JSON)
    assert answer.json()["message"] == "No such endpoint: GET /app-api/nothing."
    assert api.get("/app-api/products", headers={"Accept": "image/png"}).status_code == 200


def test_unknown_path_is_404_without_a_token_too(anonymous: Client) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        for path in ("/app-api/nothing", "/app-api", "/webhooks/x/nothing"):
            answer = anonymous.generic(method, path)
            assert answer.status_code == 404
            assert "Allow" not in answer.headers


@pytest.mark.spec("Errors", "415, 413 and 400 come before 404")
@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        ("{}", "text/plain", 415),
        ("a=1", "application/x-www-form-urlencoded", 415),
        ("{}", "", 415),
        (b'{"x": "' + b"a" * 2**20 + b'"}', JSON, 413),
        (b"x" * (2**20 + 1), "text/plain", 415),
        ("{", JSON, 400),
        ("[]", JSON, 400),
        ('"text"', JSON, 400),
        ("NaN", JSON, 400),
        (b'{"x": "\xff"}', JSON, 400),
        ('{"x": "\\ud800"}', JSON, 400),
        ("[" * 5000, JSON, 400),
        ("", JSON, 400),
        ("{}", "application/json; charset=utf-8", 400),
    ],
)
def test_bodies_that_cannot_be_read(api: Client, body: Any, content_type: str, status: int) -> None:
    """`tests/wire/test_matrix.py` asks every endpoint."""
    answer = api.generic("PATCH", "/app-api/orders/x/status", body, content_type=content_type)
    assert answer.status_code == status
    assert answer.json()["statusCode"] == status


@pytest.mark.spec("Errors", "415 for a body in a Content-Encoding, which isn't read")
@pytest.mark.parametrize(("coding", "status"), [("gzip", 415), ("BR", 415), ("identity", 400), ("", 400)])
def test_compressed_body_is_named_as_such(api: Client, coding: str, status: int) -> None:
    body = gzip.compress(b"{}") if coding == "gzip" else b"{}"
    answer = api.generic("POST", "/webhooks", body, JSON, headers={"Content-Encoding": coding})
    assert answer.status_code == status
    assert ("without Content-Encoding" in answer.json()["message"]) is (status == 415)
    # A call without a body has nothing encoded.
    assert api.get("/webhooks", headers={"Content-Encoding": coding}).status_code == 200


def test_other_media_types_are_refused_with_advice(api: Client) -> None:
    def message(content_type: str) -> str:
        return str(api.generic("POST", "/webhooks", "{}", content_type=content_type).json()["message"])

    assert message("") == "The Content-Type header is missing. Send application/json."
    assert message("text/plain") == 'Content-Type "text/plain" is not accepted. Send application/json.'


def test_calls_without_a_body_take_any_content_type(api: Client) -> None:
    answer = api.get("/app-api/installation", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 200
    assert api.generic("POST", "/webhooks/x/test", "hello", content_type="text/plain").status_code == 404


def test_database_away_is_503_with_retry_after(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: Any) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("installations.authentication.installation_of", away)
    answer = api.get("/app-api/products")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.headers["X-RateLimit-Remaining"] == "59"
