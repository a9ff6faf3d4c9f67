"""What is the same for every request, whatever it asks for: charsets, NUL, weights, credentials, probes, windows."""

import gzip
import time
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.db import DataError, connections
from django.test import Client

from accounts.models import Business, User
from accounts.sign_in import tokens
from common.rest.errors import status_and_message
from common.web.requests import accepted_codings, without_charset
from config.wsgi import application
from installations.models import Installation
from marketplace.models import App
from stores.addresses import store_url
from tests import factories
from tests.clients import client_of
from tests.installations.oauth_client import FORM, SECRET, basic, code_for
from tests.security.sites import waitress
from tests.wire.conversations import conversation

SECTION = "Contract 15 Doors"
CHARSETS = [
    "; charset=ISO-8859-1", "; charset=us-ascii", "; charset=utf8", "; Charset=Utf8", "; charset=utf-16", "; charset=hex",
    "; charset=undefined", "; charset=\"zlib\"", "; charset=nonsense", "; x*=nonsense''y", ";;",
]  # fmt: skip
SIGN_IN = {"email": "dana@example.com", "password": factories.PASSWORD}
HTML = {"Accept": "text/html"}


@pytest.fixture
def listed(dana: User) -> App:
    app = factories.app(dana, client_secret=SECRET)
    factories.approve(app)
    return app


def sent(path: str, body: dict[str, str] | bytes, charset: str = "", **headers: str) -> Any:
    """The client's own `post` would encode the body by the charset, or not know it."""
    data = body if isinstance(body, bytes) else urlencode(body).encode()
    return Client().generic("POST", path, data, FORM + charset, headers=headers)


# --- Charsets ---------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec(SECTION, "a form of ASCII or UTF-8 bytes is read under any charset")
@pytest.mark.parametrize("charset", CHARSETS)
def test_form_is_read_under_any_charset(listed: App, mira: User, charset: str) -> None:
    """As Apache's HttpClient sends it, by default."""
    body = {
        "grant_type": "authorization_code",
        "code": code_for(mira, listed),
        "redirect_uri": listed.redirect_url,
    }
    answer = sent("/oauth/token", body, charset, Authorization=basic(listed))
    assert answer.status_code == 200, answer.content
    token = answer.json()["access_token"]
    assert sent("/oauth/revoke", {"token": token}, charset, Authorization=basic(listed)).status_code == 200
    assert sent("/accounts/login/", SIGN_IN, charset).status_code == 302
    assert sent("/accounts/logout/", {}, charset).status_code == 302


@pytest.mark.spec(SECTION, "other bytes of a form are 415")
@pytest.mark.parametrize("body", [b"code=M\xfcsli", b"code=M%FCsli", b"code=%ED%A0%80", b"\xff\xfec\0"])
@pytest.mark.parametrize("charset", ["", "; charset=utf-8", "; charset=ISO-8859-1"])
def test_form_in_another_encoding_is_415(listed: App, shop: Business, body: bytes, charset: str) -> None:
    for path in (
        "/oauth/token",
        "/oauth/revoke",
        "/accounts/login/",
        "/theme/",
        f"/store/{shop.slug}/checkout/",
    ):
        host = {"Host": "stores.test"} if path.startswith("/store/") else {}
        answer = sent(path, body, charset, **host)
        assert answer.status_code == 415, (path, answer.content)
        assert b"Send the form in UTF-8" in answer.content


@pytest.mark.spec(SECTION, "other bytes of a form are 415")
def test_compressed_form_is_named_as_such(listed: App, shop: Business) -> None:
    for path in ("/oauth/token", "/accounts/login/", f"/store/{shop.slug}/checkout/"):
        host = {"Host": "stores.test"} if path.startswith("/store/") else {}
        answer = sent(path, gzip.compress(b"code=x"), "", **{"Content-Encoding": "gzip"}, **host)
        assert answer.status_code == 415, (path, answer.content)
        assert b"without Content-Encoding" in answer.content


@pytest.mark.spec(SECTION, "other bytes of a form are 415")
@pytest.mark.parametrize(
    ("value", "charset", "status"),
    [
        ("Müsli".encode(), "", 302),
        ("Müsli".encode(), "; charset=hex", 302),
        (b"M\xfcsli", "", 415),
        ("�".encode(), "", 302),
    ],
)
def test_parts_of_a_form_are_utf8(dana: User, value: bytes, charset: str, status: int) -> None:
    browser = Client()
    browser.force_login(dana)
    part = b'--Bound-ary-\r\nContent-Disposition: form-data; name="name"\r\nContent-Type: text/plain; charset=hex\r\n\r\n'
    body = part + value + b"\r\n--Bound-ary---\r\n"
    content_type = f"multipart/form-data; boundary=Bound-ary-{charset}"
    answer = browser.generic("POST", "/accounts/profile/name/", body, content_type)
    assert answer.status_code == status, answer.content
    dana.refresh_from_db()
    assert dana.name == (value.decode() if status == 302 else "Dana")


@pytest.mark.spec(SECTION, "charset of a request's Content-Type changes nothing for queries")
@pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16", "hex", "us-ascii"])
def test_query_is_read_as_utf8_under_any_charset(
    installation: Installation, sandbox: Business, charset: str
) -> None:
    for name in ("Müsli", "Must", "Muffin"):
        factories.product(sandbox, name=name)
    api = client_of(installation)
    answer = api.get(
        "/app-api/products?search=M%C3%BCsli&limit=1", headers={"Content-Type": f"x/y; charset={charset}"}
    )
    page = answer.json()
    assert ([each["name"] for each in page["data"]], page["limit"]) == (["Müsli"], 1)


@pytest.mark.long
def test_requests_that_can_not_be_read_count(db: None, settings: Any, stopped_clock: None) -> None:
    settings.AUTH_RATE_LIMITS = True
    for count in range(61):
        answer = sent("/oauth/token", {}, "; charset=ISO-8859-1")
        unreadable = sent("/oauth/token", b"code=%E9")
        assert {answer.status_code, unreadable.status_code} <= (
            {400, 401, 415} if count < 30 else {400, 401, 415, 429}
        )
    assert (answer.status_code, unreadable.status_code) == (429, 429)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", ""),
        ("application/json; charset=utf-16", "application/json"),
        ("multipart/form-data; boundary=abc; charset=hex", 'multipart/form-data; boundary="abc"'),
        (
            'Multipart/Form-Data; charset=hex; BOUNDARY="a;charset=\\"b"',
            'Multipart/Form-Data; boundary="a;charset=\\"b"',
        ),
        ("multipart/form-data; boundary*=hex''abc", 'multipart/form-data; boundary="abc"'),
        ("multipart/form-data; boundary*=nonsense''abc", 'multipart/form-data; boundary=""'),
    ],
)
def test_content_type_keeps_its_boundary_alone(given: str, kept: str) -> None:
    assert without_charset(given) == kept


def test_accept_that_can_not_be_read_accepts_nothing_by_name(db: None) -> None:
    answer = Client().get("/nothing/here", headers={"Accept": "text/html; x*=nonsense''y"})
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")


# --- NUL --------------------------------------------------------------------------------------------


@pytest.mark.spec(SECTION, "A NUL in a query or path is a 400 or 404, never a 500")
def test_nul_is_refused_before_any_page_reads_it(dana: User, mira: User, installation: Installation) -> None:
    root = User.objects.create_superuser("root@example.com", name="Root")
    cases = [
        (None, "post", "/inbox/%00", 404),
        (None, "get", "/store/a%00b/", 404),
        (dana, "get", "/portal/?q=a%00b", 400),
        (dana, "get", "/portal/?%00=a", 400),
        (dana, "get", "/portal/apps/%00/", 404),
        (mira, "get", f"/merchant/apps/{installation.pk}/pages/%00/", 404),
        (root, "get", "/admin/marketplace/app/?status=%00", 400),
        (root, "get", "/admin/marketplace/submission/?status=%00", 400),
        (root, "get", "/admin/marketplace/submission/%00/change/", 404),
    ]
    for person, method, path, status in cases:
        browser = Client(headers=HTML)
        if person:
            browser.force_login(person)
        assert (path, getattr(browser, method)(path).status_code) == (path, status)


@pytest.mark.postgres
def test_nul_that_reaches_the_database_is_a_400(db: None) -> None:
    with pytest.raises(DataError) as refused:
        list(User.objects.filter(name="a\0b"))
    assert status_and_message(refused.value) == (400, "Text must not contain the character NUL.")


def test_choice_that_is_too_large_a_number_is_refused(client: Client, db: None) -> None:
    """SQLite has no place for it, and finds that out in the query."""
    client.force_login(User.objects.create_superuser("ada@example.com", "a long password"))
    client.raise_request_exception = False
    assert client.post("/admin/auth/group/add/", {"name": "a", "permissions": "9" * 30}).status_code in (
        200,
        400,
    )
    assert not Group.objects.filter(name="a").exists()


COOKIES = (
    django_settings.SESSION_COOKIE_NAME,
    django_settings.CSRF_COOKIE_NAME,
    django_settings.CART_COOKIE_NAME,
)


def test_nul_in_headers_and_cookies_fails_nothing(shop: Business, installation: Installation) -> None:
    odd = "a\0b"
    cookies = "; ".join(f'{name}={odd}; {name}="a\\000b"' for name in (*COOKIES, "theme"))
    for path, host in (
        ("/portal/", "testserver"),
        ("/app-api/products", "testserver"),
        (f"/store/{shop.slug}/cart/", "stores.test"),
    ):
        headers = {"Host": host, "Cookie": cookies}
        headers |= {"Authorization": f"Bearer {odd}", "traceparent": odd, "Referer": odd, "User-Agent": odd}
        assert Client(headers=headers).get(path).status_code < 500
    browser = Client(headers={"User-Agent": odd, "X-Forwarded-For": odd})
    assert (
        browser.post(
            "/accounts/login/", {"email": shop.owner.email, "password": factories.PASSWORD}
        ).status_code
        == 302
    )


# --- Weights, credentials, numbers ------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec(SECTION, "gzip;q=0 means no gzip")
@pytest.mark.parametrize(
    ("header", "is_compressed"),
    [
        ("gzip", True),
        ("br, gzip;q=0.001", True),
        ("gzip;q=0", False),
        ("gzip ; Q=0.000, *", False),
        ("br", False),
    ],
)
def test_page_is_compressed_for_those_who_accept_it(db: None, header: str, is_compressed: bool) -> None:
    answer = Client().get("/docs/", headers={"Accept-Encoding": header})
    assert ("Content-Encoding" in answer) == is_compressed
    assert "Accept-Encoding" in answer["Vary"]


def test_refused_coding_is_unknown_to_files_too() -> None:
    assert accepted_codings("br;q=1.0, gzip;q=0.0,deflate") == "br;q=1.0,deflate"


@pytest.mark.spec(SECTION, "Authorization: Bearer takes one or more spaces")
@pytest.mark.parametrize("before", ["Bearer ", "bearer  ", "BEARER     "])
def test_spaces_before_a_token_do_not_count(
    dana: User, installation: Installation, settings: Any, before: str
) -> None:
    settings.METRICS_TOKEN = "of-the-operator"
    of_app = installation.raw_token  # type: ignore[attr-defined]
    for path, token in (
        ("/app-api/products", of_app), ("/webhooks", of_app), ("/developer/apps", tokens.issue(dana).access),
        ("/metrics", settings.METRICS_TOKEN),
    ):  # fmt: skip
        for header, status in (
            (before + token, 200),
            (before + token + " x", 401),
            (before + "x" + token, 401),
        ):
            answer = Client().get(path, headers={"Authorization": header})
            assert (path, answer.status_code) == (path, status)


def test_spaces_within_a_credential_take_no_time() -> None:
    """A request that is refused may not cost a process more than others do."""
    client, began = Client(headers={"Authorization": f"Bearer x{' ' * 60_000}y"}), time.process_time()
    for path in ("/app-api/products", "/developer/apps"):
        assert client.get(path).status_code == 401
    assert time.process_time() - began < 2


@pytest.mark.spec(SECTION, "JSON 1.0 is an integer")
def test_number_without_a_fraction_is_an_integer(installation: Installation, sandbox: Business) -> None:
    product = factories.product(sandbox)
    body = {
        "items": [{"productId": str(product.pk), "quantity": 2.0}],
        "customer": {"name": "Kim", "phone": "+1 555 0100"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    answer = client_of(installation).post("/app-api/orders", body, "application/json")
    assert answer.status_code == 201, answer.content
    assert answer.json()["items"][0]["quantity"] == 2


# --- Probes -----------------------------------------------------------------------------------------


@pytest.mark.spec(SECTION, "/healthz and /readyz answer under any Host")
@pytest.mark.parametrize(
    "host", ["10.0.0.7:8000", "web_1", "[::1]", "a b", "", "stores.test", "elsewhere.example"]
)
def test_probes_answer_under_any_host(db: None, settings: Any, host: str) -> None:
    settings.SECURE_SSL_REDIRECT = True
    for path in ("/healthz", "/healthz/", "/readyz"):
        answer = Client(headers={"Host": host} | HTML).get(path)
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    settings.SECURE_SSL_REDIRECT = False
    if host != "stores.test":
        assert Client(headers={"Host": host}).get("/").status_code == 400


@pytest.mark.parametrize("host", ["10.0.0.7:8000", "web_1", "", "elsewhere.example"])
def test_metrics_are_read_under_any_host_but_those_of_stores(db: None, settings: Any, host: str) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.METRICS_TOKEN = "of-the-operator"
    headers = {"Host": host, "Authorization": "Bearer of-the-operator"}
    for path in ("/metrics", "/metrics/"):
        assert "extension_platform_" in Client(headers=headers).get(path).content.decode()
    settings.SECURE_SSL_REDIRECT = False
    assert Client(headers=headers | {"Host": "stores.test"}).get("/metrics").status_code == 404
    refused = Client(headers=headers | {"Authorization": "Bearer x"}).get("/metrics")
    assert (refused.status_code, refused.json()["statusCode"]) == (401, 401)


def test_part_that_is_gone_is_named_under_any_host(db: None, settings: Any) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    answer = Client(headers={"Host": "10.0.0.7"} | HTML).get("/readyz?strict")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "cache" in answer.content.decode()


@pytest.mark.spec(SECTION, "/healthz and /readyz answer under any Host")
@pytest.mark.timed
@pytest.mark.django_db(transaction=True)
def test_probe_of_http_1_0_needs_no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.databases["default"], "CONN_MAX_AGE", 0)
    with waitress(application) as port:
        answer = conversation(f"http://127.0.0.1:{port}", "GET /healthz", version="1.0", host="")
    assert answer.startswith(b"HTTP/1.0 200 OK\r\n")


# --- Windows ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec(SECTION, "sign-in, registration, consent and stores have no opener policy but unsafe-none")
def test_pages_that_apps_open_have_no_opener_policy(listed: App, mira: User, shop: Business) -> None:
    browser = Client(headers=HTML, enforce_csrf_checks=True)
    store = store_url(shop.slug).removeprefix("http://stores.test")
    open_, own = "unsafe-none", "same-origin"
    consent = f"/oauth/authorize?response_type=code&client_id={listed.client_id}&state=x"
    cases = [
        ("get", "/accounts/login/", open_), ("post", "/accounts/login/", open_), ("get", "/accounts/register/", open_),
        ("post", "/accounts/register/", open_), ("get", "/accounts/login/second-step/", open_), ("get", consent, open_),
        ("get", "/oauth/authorize?client_id=nobody", open_), ("delete", "/oauth/authorize", open_), ("get", "/oauth/requests/none/", open_),
        ("get", f"/store/{shop.slug}/products/x/", open_), ("get", "/", own), ("get", "/merchant/", own),
        ("get", "/accounts/password-reset/", own), ("get", "/nothing/here", own), ("get", "/app-api/products", own),
    ]  # fmt: skip
    for method, path, policy in cases:
        answer = getattr(browser, method)(path)
        assert (path, answer["Cross-Origin-Opener-Policy"]) == (path, policy)
    browser.force_login(mira)
    assert browser.get(consent)["Cross-Origin-Opener-Policy"] == open_
    for path in (store, f"{store}cart/", f"{store}nothing/", "/nothing", "/static/images/product.svg"):
        answer = Client(headers=HTML | {"Host": "stores.test"}).get(path)
        assert (path, answer["Cross-Origin-Opener-Policy"]) == (path, open_)
