"""Every refusal of the OAuth endpoints (contract sections 0, 3 and 9; RFC 6749 sections 4.1.2.1 and 5.2)."""

import base64
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from accounts.models import Business, User
from developers.docs.errors import CODES
from installations.models import Grant, Installation
from installations.services import authorization
from installations.views import token
from marketplace.models import App
from tests import factories
from tests.installations.oauth_client import (
    CHALLENGE,
    FORM,
    PKCE,
    SECRET,
    VERIFIER,
    address,
    answer,
    basic,
    browser,
    code_for,
    exchange,
    only_grant,
    post,
    sent_to,
)
from tests.pages import main_words_of


def assert_refused(response: Any, status: int, error: str) -> None:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/json"
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    assert body["error"] == error
    assert set(body) <= {"error", "error_description"}
    assert body.get("error_description") != ""
    assert response["X-Error-Code"] in CODES
    assert ("WWW-Authenticate" in response) == (status == 401)
    if status == 401:
        assert response["WWW-Authenticate"].startswith("Basic realm=")


# --- /oauth/authorize: never a redirect to an unchecked address ------------------------------------------

STRANGE = "https://evil.example.com/callback"
APPROVED = "https://app.example.com/approved"


@pytest.mark.long
@pytest.mark.spec(
    "Contract 3 OAuth", "A bad client_id or redirect_uri shows an error page and never redirects"
)
@pytest.mark.parametrize(
    "wrong",
    [
        {"client_id": "unknown"},
        {"client_id": None},
        {"redirect_uri": STRANGE},
        {"redirect_uri": "https://app.example.com/callback/"},
        {"redirect_uri": "https://app.example.com/callback?x=1"},
        {"redirect_uri": "javascript:alert(1)"},
    ],
    ids=str,
)
@pytest.mark.parametrize("signed_in", [True, False])
def test_bad_client_or_redirect_is_a_page(
    listed: App, mira: User, wrong: dict[str, str | None], signed_in: bool
) -> None:
    client = browser(mira) if signed_in else Client()
    for response in (client.get(address(listed, **wrong)), client.post(address(listed, **wrong))):
        assert response.status_code == 400
        assert response["Content-Type"].startswith("text/html")
        assert "Location" not in response
        assert STRANGE.encode() not in response.content


@pytest.mark.spec(
    "Contract 3 OAuth", "A wrong redirect_uri is explained to the app's developer, and to no one else"
)
def test_wrong_redirect_is_explained_to_the_developer(listed: App, dana: User, mira: User, sam: User) -> None:
    wrong = address(listed, redirect_uri=f"{listed.redirect_url}/")
    page = browser(dana).get(wrong).content.decode()
    for part in (
        f'<dd class="mono breakable">{listed.redirect_url}/</dd>',
        f'<dd class="mono breakable">{listed.redirect_url}</dd>',
        "They differ only in the slash at the end.",
        f'href="/portal/apps/{listed.slug}/details/access/#id_redirect_url"',
    ):
        assert part in page
    for stranger in (Client(), browser(mira), browser(sam)):
        assert listed.redirect_url not in stranger.get(wrong).content.decode()


@pytest.mark.parametrize(
    ("given", "difference"),
    [
        (
            APPROVED,
            "It is the Redirect URL of the approved version. Your own install uses the working copy.",
        ),
        ("http://app.example.com/callback", "They differ only in http and https."),
        ("https://app.example.com/CallBack", "They differ only in upper and lower case."),
        ("https://app.example.com/other", ""),
    ],
)
def test_difference_between_redirect_urls_is_named(app: App, dana: User, given: str, difference: str) -> None:
    """Where the working copy has another one than the approved version, to which the others are sent."""
    wrong = address(app, redirect_uri=given)
    assert "for everybody else" not in main_words_of(browser(dana).get(wrong))
    factories.approve(app, redirect_url=APPROVED)
    said = main_words_of(browser(dana).get(wrong))
    assert f"for everybody else {APPROVED} {difference} Both must be the same".replace("  ", " ") in said


def test_deleted_app_is_unknown(app: App, dana: User) -> None:
    App.objects.filter(pk=app.pk).update(deleted_at="2026-11-20T12:00:00Z")
    assert browser(dana).get(address(app)).status_code == 400


def test_parameter_given_twice_is_a_page(listed: App, mira: User) -> None:
    response = browser(mira).get(address(listed) + "&redirect_uri=" + STRANGE)
    assert response.status_code == 400


@pytest.mark.parametrize("twice", ["state=b", "scope=read_products", "response_type=code", "client_id={}"])
def test_page_tells_that_a_parameter_was_given_twice(listed: App, mira: User, dana: User, twice: str) -> None:
    path = address(listed, scope="read_products") + "&" + twice.format(listed.client_id)
    for person in (mira, dana):
        response = browser(person).get(path)
        assert response.status_code == 400
        assert b"it repeats a parameter" in response.content
        assert b"is not a Redirect URL of the app" not in response.content
        assert b"Only you see this" not in response.content


@pytest.mark.spec(
    "Contract 3 OAuth", "A bad client_id or redirect_uri shows an error page and never redirects"
)
def test_page_tells_that_the_redirect_url_of_another_state_is_wrong(app: App, mira: User) -> None:
    """It is one of the app's, but not the one that a merchant is sent to."""
    factories.approve(app, redirect_url=APPROVED)
    response = browser(mira).get(address(app))
    assert response.status_code == 400
    assert b"is not a Redirect URL of the app" in response.content


def test_broken_encoding_of_the_address_is_no_crash(listed: App, mira: User) -> None:
    assert browser(mira).get("/oauth/authorize?client_id=%zz%ff&state=%").status_code == 400
    assert browser(mira).get(address(listed) + "&x=%zz%ff").status_code == 200


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_other_methods_on_the_page_refused(listed: App, mira: User, method: str) -> None:
    assert getattr(browser(mira), method)(address(listed)).status_code == 405
    assert not Grant.objects.exists()


@pytest.mark.spec(
    "Contract 9 OAuth", "Missing response_type, plain, a challenge without a method: invalid_request"
)
@pytest.mark.spec("Contract 3 OAuth", "Other errors redirect with error and state")
@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"response_type": None}, "invalid_request"),
        ({"response_type": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"response_type": "none"}, "unsupported_response_type"),
        ({"scope": "read_everything"}, "invalid_scope"),
        ({"scope": "read_products openid"}, "invalid_scope"),
        ({"code_challenge": CHALLENGE}, "invalid_request"),
        ({"code_challenge": VERIFIER, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": CHALLENGE, "code_challenge_method": "S512"}, "invalid_request"),
        ({"code_challenge": "short", "code_challenge_method": "S256"}, "invalid_request"),
        ({"code_challenge": "a" * 200, "code_challenge_method": "S256"}, "invalid_request"),
    ],
    ids=str,
)
def test_other_errors_are_told_to_the_app(
    listed: App, mira: User, wrong: dict[str, str | None], error: str
) -> None:
    wrong = {"response_mode": "fragment"} | wrong
    for response in (
        browser(mira).get(address(listed, **wrong)),
        browser(mira).post(address(listed, **wrong), {"answer": "install"}),
        browser(mira).get(address(listed, redirect_uri=None, **wrong)),
    ):
        where, query = sent_to(response)
        assert where == listed.redirect_url
        assert (query["error"], query["state"]) == (error, "xyz")
        assert "code" not in query
    assert not Grant.objects.exists()


def test_error_after_a_form_of_ours_goes_by_a_page(listed: App, mira: User) -> None:
    """Chromium holds a redirect that follows a form to that form's policy: the sign-in page's is this site."""
    path, headers = address(listed, scope="x"), {"sec-fetch-site": "same-origin"}
    response = browser(mira).get(path, headers=headers)
    assert response.status_code == 200
    assert b'http-equiv="refresh" content="0; url=https://app.example.com/callback?error=invalid_scope' in (
        response.content
    )
    answered = browser(mira).post(path, headers=headers)
    assert answered.status_code == 302, "the policy of the consent page lets its own form lead there"


# --- /oauth/token ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Contract 3 OAuth", "The app authenticates with Client ID and secret, by header or body")
@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "wrong",
        "Basic",
        "Basic !!!",
        "Basic \xe9\xe9",
        "Basic bm9jb2xvbg==",
        "Basic //8=",
        "Bearer fbat_x",
        "another scheme",
    ],
)
def test_wrong_client_refused(listed: App, mira: User, authorization: str | None) -> None:
    code = code_for(mira, listed)
    made = {"wrong": basic(listed, "wrong"), "another scheme": basic(listed).replace("Basic", "Bearer")}
    header = made.get(authorization or "", authorization)
    assert_refused(exchange(listed, code, authorization=header), 401, "invalid_client")
    assert exchange(listed, code).status_code == 200  # the code is still good


def test_wrong_secret_in_the_body_refused(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    for secret in ("wrong", "", None):
        response = exchange(
            listed, code, authorization=None, client_id=listed.client_id, client_secret=secret
        )
        assert_refused(response, 401, "invalid_client")


@pytest.mark.spec("Contract 9 Order of errors", "A wrong client is refused before a bad request")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/oauth/token", "grant_type=authorization_code&code=a&code=b"),
        ("/oauth/token", "code=a"),
        ("/oauth/token", "grant_type=password"),
        ("/oauth/revoke", ""),
    ],
)
def test_wrong_client_is_refused_before_a_bad_request(listed: App, path: str, body: str) -> None:
    headers = {"authorization": basic(listed, "wrong")}
    response = Client().post(path, body, content_type=FORM, headers=headers)
    assert response.status_code == 401


def test_space_around_a_secret_is_named(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    in_body = {"client_id": listed.client_id, "client_secret": f" {SECRET}\n"}
    for response in (
        exchange(listed, code, authorization=basic(listed, f"{SECRET} ")),
        exchange(listed, code, authorization=None, **in_body),
    ):
        assert_refused(response, 401, "invalid_client")
        assert "has a space or a line break around it" in response.json()["error_description"]
    wrong = exchange(listed, code, authorization=basic(listed, "wrong"))
    assert "space" not in wrong.json()["error_description"]


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
@pytest.mark.parametrize("where", ["header", "header, escaped", "body"])
def test_nul_in_the_client_id_is_a_wrong_client(listed: App, path: str, where: str) -> None:
    body: dict[str, str | None] = {"grant_type": "authorization_code", "code": "x", "token": "x"}
    authorization = None
    if where == "body":
        body |= {"client_id": "\0", "client_secret": "x"}
    else:
        client_id = b"\0a" if where == "header" else b"%00a"
        authorization = "Basic " + base64.b64encode(client_id + b":b").decode()
    response = post(path, body, authorization)
    assert response.status_code == 401, response.content
    assert response["WWW-Authenticate"].startswith("Basic realm=")


def test_right_body_does_not_mend_a_wrong_header(listed: App, mira: User) -> None:
    response = exchange(
        listed,
        code_for(mira, listed),
        authorization=basic(listed, "wrong"),
        client_id=listed.client_id,
        client_secret="fbcs_of-the-test",
    )
    assert_refused(response, 401, "invalid_client")


def test_name_of_the_scheme_has_no_case(listed: App, mira: User) -> None:
    header = basic(listed).replace("Basic", "bAsIc")
    assert exchange(listed, code_for(mira, listed), authorization=header).status_code == 200


@pytest.mark.long
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": ""}, "invalid_request"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "password", "username": "a", "password": "b"}, "unsupported_grant_type"),
        ({"grant_type": "openid"}, "unsupported_grant_type"),
        ({"grant_type": "urn:ietf:params:oauth:grant-type:device_code"}, "unsupported_grant_type"),
        ({"code": None}, "invalid_request"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": "nul\0"}, "invalid_grant"),
        ({"redirect_uri": STRANGE}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),  # the authorization named it
        ({"redirect_uri": ""}, "invalid_grant"),
        ({"code_verifier": VERIFIER}, "invalid_grant"),  # no challenge was given
    ],
    ids=str,
)
def test_bad_exchange_refused(listed: App, mira: User, body: dict[str, str | None], error: str) -> None:
    code = code_for(mira, listed)
    assert_refused(exchange(listed, **({"code": code} | body)), 400, error)
    assert not Installation.objects.exists()
    assert only_grant().refused_redirect_uri is None
    assert exchange(listed, code).status_code == 200


def test_parameter_given_twice_refused(listed: App, mira: User) -> None:
    body = f"grant_type=authorization_code&code={code_for(mira, listed)}&code=x"
    response = Client().post(
        "/oauth/token",
        body,
        content_type="application/x-www-form-urlencoded",
        headers={"authorization": basic(listed)},
    )
    assert_refused(response, 400, "invalid_request")
    assert response.json()["error_description"] == "A parameter is given more than once."


@pytest.mark.spec("Contract 9 OAuth", "Wrong or missing verifier: invalid_grant")
@pytest.mark.parametrize("verifier", [None, "", "wrong" * 10, CHALLENGE, "\xe9" * 50])
def test_wrong_or_missing_verifier_refused(listed: App, mira: User, verifier: str | None) -> None:
    code = code_for(mira, listed, **PKCE)
    assert_refused(exchange(listed, code, code_verifier=verifier), 400, "invalid_grant")
    assert exchange(listed, code, code_verifier=VERIFIER).status_code == 200


def test_code_of_another_app_refused(listed: App, mira: User, sam: User) -> None:
    other = factories.app(sam, client_secret="fbcs_of-the-test")
    code = code_for(mira, listed)
    assert_refused(exchange(other, code), 400, "invalid_grant")
    assert exchange(listed, code).status_code == 200


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_wrong_method_and_content_type(listed: App, mira: User, path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response["Allow"]) == (405, "POST, OPTIONS")
    json = {"content_type": "application/json", "headers": {"authorization": basic(listed)}}
    assert Client().post(path, "{}", **json).status_code == 415
    assert Client().post(path, "{}", content_type="application/json").status_code == 401
    assert post(path + "/?grant_type=x", {}, basic(listed)).status_code == 400  # a query is ignored


@pytest.mark.parametrize("code", ["x" * 3_000_000, "\xe9" * 50_001], ids=["long", "many escapes"])
def test_too_large_body_refused(listed: App, code: str, caplog: pytest.LogCaptureFixture) -> None:
    response = post("/oauth/token", {"code": code}, basic(listed))
    assert_refused(response, 413, "invalid_request")
    assert response["X-Error-Code"] == "body_too_large"
    assert not [each for each in caplog.records if each.name == token.__name__]


@pytest.mark.long
@pytest.mark.spec("Contract 9 Accounts", "Token exchange is limited to 60 a minute per address")
@pytest.mark.usefixtures("stopped_clock")
def test_sixty_first_exchange_of_an_address_refused(listed: App) -> None:
    for _ in range(60):
        assert exchange(listed, "x", authorization=None).status_code == 401
    response = exchange(listed, "x", authorization=None)
    assert response.status_code == 429
    assert 1 <= int(response["Retry-After"]) <= 60
    assert response.json()["error"] == "temporarily_unavailable"


@pytest.mark.long
@pytest.mark.usefixtures("stopped_clock")
def test_sixty_first_revocation_of_an_address_refused(listed: App) -> None:
    for _ in range(60):
        assert post("/oauth/revoke", {"token": "x"}, None).status_code == 401
    response = post("/oauth/revoke", {"token": "x"}, None)
    assert response.status_code == 429
    assert 1 <= int(response["Retry-After"]) <= 60


@pytest.mark.long
def test_consents_of_a_person_are_limited(
    listed: App, mira: User, sam: User, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr("merchants.consent.views.CONSENTS", 2)
    for _ in range(2):
        assert answer(mira, listed).status_code == 302
    refused = answer(mira, listed)
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert answer(sam, listed).status_code == 302


def test_crash_is_an_answer_and_leaves_nothing(
    listed: App,
    mira: User,
    shop: Business,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    code = code_for(mira, listed)
    for error, status, name in (
        (RuntimeError, 500, "server_error"),
        (OperationalError, 503, "temporarily_unavailable"),
    ):

        def fail(error: type[Exception] = error, **kwargs: Any) -> None:
            raise error("secret detail")

        with monkeypatch.context() as patch:
            patch.setattr(authorization.lifecycle, "install", fail)
            response = exchange(listed, code)
        assert_refused(response, status, name)
        assert b"secret detail" not in response.content
        (logged,) = [each for each in caplog.records if each.name == token.__name__]
        assert logged.exc_info is not None
        assert logged.exc_info[0] is error
        caplog.clear()
    assert response["Retry-After"]
    assert exchange(listed, code).status_code == 200


# --- /oauth/revoke: the error shape of the other APIs ----------------------------------------------------


def test_revocation_without_the_client_refused(listed: App) -> None:
    response = post("/oauth/revoke", {"token": "fbat_x"}, None)
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Basic realm=")
    body = response.json()
    assert (body["statusCode"], body["error"]) == (401, "Unauthorized")


def test_revocation_without_a_token_refused(listed: App) -> None:
    response = post("/oauth/revoke", {}, basic(listed))
    assert (response.status_code, response.json()["error"]) == (400, "Bad Request")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_multipart_without_a_boundary_is_a_400(path: str, db: None) -> None:
    response = Client().generic("POST", path, b"code=x", content_type="multipart/form-data")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/json"


def test_wrong_method_of_the_metadata_is_a_405(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post("/.well-known/oauth-authorization-server")
    assert response.status_code == 405
    assert response["Allow"] == "GET, HEAD, OPTIONS"
    options = Client().options("/.well-known/oauth-authorization-server")
    assert (options.status_code, options["Allow"]) == (204, "GET, HEAD, OPTIONS")


@pytest.mark.spec("Contract 15 Doors", "Every text that people or apps send has a maximum")
@pytest.mark.parametrize("name", ["code", "redirect_uri", "code_verifier"])
def test_parameter_has_a_maximum(app: App, name: str) -> None:
    response = Client().post("/oauth/token", {"grant_type": "authorization_code", name: "x" * 4_097})
    assert_refused(response, 400, "invalid_request")
    assert response.json()["error_description"] == f"{name} may have at most 4,096 characters."
