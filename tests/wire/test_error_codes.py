"""Every JSON error carries `X-Error-Code`, a name that /docs/errors/ explains, whichever layer it comes from."""

import io
import json
from typing import Any

import pytest
from django.http import HttpResponse, JsonResponse
from django.test import Client, RequestFactory

from accounts.models import User
from accounts.sign_in import tokens
from activity import log
from activity.models import ApiCall
from common.errors import Conflict, default_code
from common.web.middleware import zones
from common.web.middleware.bodies import with_length
from developers.docs.errors import CODES
from installations.models import Installation
from tests import factories
from tests.clients import client_of
from tests.endpoints_table import ENDPOINTS, ROOTS
from tests.installations.oauth_client import SECRET, basic, exchange, post
from tests.storefront.shopping import STORES_HOST
from tests.wire.calls import Call
from tests.wire.traces import order_body

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.spec("Contract 15 Doors", "Every JSON error carries X-Error-Code, that /docs/errors/ lists"),
]


def code_of(response: Any, status: int) -> str:
    assert response.status_code == status, response.content
    return str(response.headers.get("X-Error-Code"))


@pytest.mark.long
@pytest.mark.parametrize("root", ROOTS)
def test_every_endpoint_names_its_errors(root: str, call: Call) -> None:
    """Without a credential, with a wrong id, a wrong body and a wrong type."""
    found = {}
    for endpoint in [each for each in ENDPOINTS if each.root == root]:
        path = endpoint.path({})
        for number, response in enumerate(
            (
                call(endpoint, path, headers={"Authorization": ""}),
                call(endpoint, path, b"{}"),
                call(endpoint, path, b"[1"),
                call(endpoint, path, b"a", content_type="text/csv"),
                call(endpoint, f"{path}?page=none"),
            )
        ):
            named = response.headers.get("X-Error-Code")
            if (named is not None) if response.status_code < 400 else (named not in CODES):
                found[f"{endpoint} {number}"] = named
    assert found == {}


def test_codes_tell_errors_of_one_status_apart(installation: Installation, dana: User) -> None:
    api = client_of(installation)
    developer = Client(headers={"Authorization": f"Bearer {tokens.issue(dana).access}"})
    product = factories.product(installation.business, is_available=False)
    order = order_body(product)

    assert code_of(Client().get("/app-api/products"), 401) == "missing_token"
    basic_ = Client(headers={"Authorization": "Basic a"})
    assert code_of(basic_.get("/app-api/products"), 401) == "malformed_authorization"
    unknown = Client(headers={"Authorization": "Bearer fbat_no"})
    assert code_of(unknown.get("/app-api/products"), 401) == "token_revoked"
    assert code_of(api.get("/developer/apps"), 401) == "wrong_kind_of_token"
    assert code_of(api.get("/app-api/products/nothing"), 404) == "not_found"
    assert code_of(api.get("/app-api/nothing"), 404) == "unknown_path"
    assert code_of(developer.get("/developer/nothing"), 404) == "unknown_path"
    assert code_of(api.delete("/app-api/products"), 405) == "method_not_allowed"
    assert code_of(api.get("/app-api/products?page=0"), 400) == "validation_failed"
    assert code_of(api.post("/app-api/orders", "{", content_type="application/json"), 400) == "invalid_json"
    assert (
        code_of(api.post("/app-api/orders", "{}", content_type="text/csv"), 415) == "unsupported_media_type"
    )
    large = api.post("/app-api/orders", "x" * (1024 * 1024 + 1), content_type="application/json")
    assert code_of(large, 413) == "body_too_large"
    assert code_of(api.post("/app-api/orders", order, content_type="application/json"), 409) == "product_unavailable"  # fmt: skip


def test_error_under_an_idempotency_key_keeps_its_code(installation: Installation) -> None:
    product = factories.product(installation.business, stock=0)
    body = order_body(product)
    api = client_of(installation)
    for _ in range(2):
        response = api.post(
            "/app-api/orders", body, content_type="application/json", headers={"Idempotency-Key": "k"}
        )
        assert code_of(response, 409) == "product_sold_out"
    assert response["Idempotent-Replayed"] == "true"


@pytest.mark.long
def test_token_endpoints_name_their_errors(dana: User, stopped_clock: None) -> None:
    app = factories.app(dana, client_secret=SECRET)
    assert code_of(exchange(app, "unknown"), 400) == "invalid_grant"
    assert code_of(exchange(app, "unknown", "Basic unknown"), 401) == "invalid_client"
    assert code_of(exchange(app, "unknown", grant_type="password"), 400) == "unsupported_grant_type"
    assert code_of(Client().get("/oauth/token"), 405) == "method_not_allowed"
    as_json = post("/oauth/token", {"code": "x"}, basic(app), content_type="application/json")
    assert code_of(as_json, 415) == "unsupported_media_type"
    assert code_of(post("/oauth/revoke", {}, basic(app)), 400) == "invalid_request"
    device = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "unknown"}
    assert code_of(post("/developer/device/token", device, None), 400) == "invalid_grant"
    assert code_of(post("/developer/device/token", {"a": "b"}, None), 400) == "validation_failed"
    for _ in range(61):
        response = post("/developer/device/token", device, None)
    assert code_of(response, 429) == "too_many_attempts"
    assert response.json()["error"] == "temporarily_unavailable"


def test_errors_of_pages_for_programs_have_a_code(client: Client, shop: Any) -> None:
    program = {"Accept": "application/json"}
    assert code_of(client.get("/nothing", headers=program), 404) == "unknown_path"
    strict = Client(enforce_csrf_checks=True)
    assert code_of(strict.post("/theme/", headers=program), 403) == "form_expired"
    assert code_of(client.get("/theme/", headers=program), 405) == "method_not_allowed"
    stores = Client(SERVER_NAME=STORES_HOST)
    assert code_of(stores.get("/store/nothing/at/all", headers=program), 404) in CODES
    assert "X-Error-Code" not in client.get("/nothing", headers={"Accept": "text/html"})


def test_crash_has_a_code(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*arguments: Any, **options: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("appapi.views.store.settings_of", crash)
    api = client_of(installation)
    api.raise_request_exception = False
    assert code_of(api.get("/app-api/installation"), 500) == "internal_error"


def test_json_of_a_view_that_forgets_it_gets_the_code_of_its_status() -> None:
    answers = {409: JsonResponse({"a": 1}, status=409), 200: JsonResponse({}), 418: HttpResponse(status=418)}
    middleware = zones.ZoneMiddleware(lambda request: answers[int(request.GET["status"])])
    found = {
        status: middleware(RequestFactory().get(f"/app-api/x?status={status}")).headers.get("X-Error-Code")
        for status in answers
    }
    assert found == {409: "conflict", 200: None, 418: None}


def test_broken_chunks_have_a_code() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError("bad chunk")

    answered: list[dict[str, str]] = []
    environ = {
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input_terminated": True,
        "wsgi.input": Broken(),
    }
    body = with_length(lambda *_: [])(environ, lambda status, headers: answered.append(dict(headers)))
    assert answered[0]["X-Error-Code"] == "broken_chunks"
    assert json.loads(b"".join(body))["statusCode"] == 400


def test_log_of_calls_keeps_the_code(installation: Installation) -> None:
    response = client_of(installation).get("/app-api/nothing")
    client_of(installation).get("/app-api/products")
    log.flush()
    assert ApiCall.objects.get(pk=response["X-Request-Id"]).error_code == "unknown_path"
    assert set(ApiCall.objects.values_list("error_code", flat=True)) == {"unknown_path", ""}


def test_error_without_a_code_has_the_one_of_its_kind() -> None:
    assert Conflict("No.").code == default_code(409) == "conflict"
    assert Conflict("No.", code="slug_taken").code == "slug_taken"
    assert default_code(402) in CODES
    assert default_code(502) in CODES
