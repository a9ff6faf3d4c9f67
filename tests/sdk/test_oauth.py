"""The OAuth client, against a real HTTP server that plays by the contract's section 3."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from extension_platform_sdk import (
    ApiError,
    OAuthClient,
    OAuthError,
    RateLimited,
    StateMismatch,
    Unreachable,
    code_challenge,
    read_callback,
    states_match,
)

from .authorization_server import Answer, AuthorizationServer, send

TOKEN_ANSWER = {
    "access_token": "fbat_hidden",
    "token_type": "Bearer",
    "scope": "read_products read_orders",
    "installationId": "i-1",
    "webhookSecret": "whsec_hidden",
    "businessId": "b-1",
    "isTestInstall": False,
}


class Server:
    """The authorization server on a port; ``instead`` answers a path in its place."""

    def __init__(self) -> None:
        self.platform = AuthorizationServer()
        self.instead: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.headers: list[Any] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.owner = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        server: Server = self.server.owner  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server.asked.append(f"{self.command} {self.path}")
        server.headers.append(self.headers)
        authorization = self.headers.get("Authorization", "")
        answer = server.instead.get(self.path)
        answer = answer or server.platform.answer(self.command, self.path, authorization, body, server.url)
        send(self, answer or (404, {}, {"statusCode": 404, "message": "Not here", "error": "Not Found"}))

    do_GET = do_POST = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def oauth(server: Server) -> OAuthClient:
    return client(server)


def client(server: Server, **changes: str) -> OAuthClient:
    platform = server.platform
    credentials = {"client_id": platform.client_id, "client_secret": platform.client_secret} | changes
    return OAuthClient(f"{server.url}/", redirect_uri=platform.redirect_uri, **credentials)


def brought(url: str) -> dict[str, str]:
    """The parameters with which a browser arrives."""
    return dict(parse_qsl(urlsplit(url).query))


@pytest.mark.spec("Authentication", "Installation flow: consent, authorize, token exchange with Basic auth")
def test_installing_from_the_apps_own_page(server: Server, oauth: OAuthClient) -> None:
    begun = oauth.begin()
    query = brought(server.platform.consent(begun.url, business_id="b-7"))
    code = read_callback(query, state=begun.state)
    installed = oauth.exchange(code, code_verifier=begun.code_verifier)
    assert server.platform.tokens[installed.access_token] == {
        "installationId": installed.installation_id,
        "webhookSecret": installed.webhook_secret,
        "businessId": "b-7",
        "isTestInstall": False,
    }
    assert installed.is_test_install is False
    assert installed.scope == "read_products read_orders write_orders"
    assert installed.scopes == ["read_products", "read_orders", "write_orders"]


@pytest.mark.spec("Contract 3 OAuth 2.0", "GET /.well-known/oauth-authorization-server: RFC 8414")
def test_endpoints_come_from_the_metadata_asked_for_once(server: Server, oauth: OAuthClient) -> None:
    elsewhere = server.platform.metadata(server.url) | {"token_endpoint": f"{server.url}/elsewhere"}
    server.instead = {
        "/.well-known/oauth-authorization-server": (200, {}, elsewhere),
        "/elsewhere": (200, {}, TOKEN_ANSWER),
    }
    assert oauth.exchange("c").installation_id == "i-1"
    oauth.exchange("d")
    assert server.asked == [
        "GET /.well-known/oauth-authorization-server",
        "POST /elsewhere",
        "POST /elsewhere",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://somebody.example"},
        {"token_endpoint": None},
        {"revocation_endpoint": 7},
        {"authorization_endpoint": []},
    ],
)
def test_metadata_of_another_or_incomplete_is_refused(
    server: Server, oauth: OAuthClient, change: dict[str, Any]
) -> None:
    record = server.platform.metadata(server.url) | change
    server.instead = {"/.well-known/oauth-authorization-server": (200, {}, record)}
    with pytest.raises(ApiError, match="metadata document"):
        oauth.begin()


def test_authorize_address_has_a_fresh_state_and_s256(server: Server, oauth: OAuthClient) -> None:
    first, second = oauth.begin(), oauth.begin(scope=["read_orders", "read_products"], business_id="b 1")
    assert first.state != second.state
    assert first.code_verifier != second.code_verifier
    assert re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", first.code_verifier)
    assert len(first.state) >= 32
    assert parse_qs(urlsplit(second.url).query) == {
        "response_type": ["code"],
        "client_id": [server.platform.client_id],
        "redirect_uri": [server.platform.redirect_uri],
        "state": [second.state],
        "code_challenge": [code_challenge(second.code_verifier)],
        "code_challenge_method": ["S256"],
        "scope": ["read_orders read_products"],
        "business_id": ["b 1"],
    }
    assert not {"scope", "business_id"} & parse_qs(urlsplit(first.url).query).keys()


def test_challenge_is_that_of_the_rfc() -> None:
    """RFC 7636, appendix B."""
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert code_challenge(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@pytest.mark.spec("Contract 3 OAuth 2.0", "Wrong or missing verifier: invalid_grant")
@pytest.mark.parametrize("verifier", [None, "another-verifier-of-the-right-length-0123456789"])
def test_code_of_a_begun_flow_needs_its_verifier(
    server: Server, oauth: OAuthClient, verifier: str | None
) -> None:
    query = brought(server.platform.consent(oauth.begin().url))
    with pytest.raises(OAuthError) as caught:
        oauth.exchange(query["code"], code_verifier=verifier)
    assert (caught.value.error, caught.value.status_code) == ("invalid_grant", 400)


def test_code_of_the_marketplace_needs_none(server: Server, oauth: OAuthClient) -> None:
    query = brought(server.platform.install_from_the_marketplace())
    installed = oauth.exchange(read_callback(query, state=None))
    assert installed.access_token in server.platform.tokens


def test_used_code_is_refused(server: Server, oauth: OAuthClient) -> None:
    code = brought(server.platform.install_from_the_marketplace())["code"]
    oauth.exchange(code)
    with pytest.raises(OAuthError) as caught:
        oauth.exchange(code)
    assert caught.value.error == "invalid_grant"
    assert caught.value.description == "The code is not valid."
    assert str(caught.value) == "invalid_grant: The code is not valid."


def test_wrong_client_secret_is_invalid_client(server: Server) -> None:
    code = brought(server.platform.install_from_the_marketplace())["code"]
    with pytest.raises(OAuthError) as caught:
        client(server, client_secret="fbcs_old").exchange(code)
    assert (caught.value.error, caught.value.status_code) == ("invalid_client", 401)
    assert str(caught.value) == "invalid_client"


def test_revoking_ends_the_token(server: Server, oauth: OAuthClient) -> None:
    code = brought(server.platform.install_from_the_marketplace())["code"]
    token = oauth.exchange(code).access_token
    oauth.revoke(token)
    assert server.platform.tokens == {}
    oauth.revoke(token)
    with pytest.raises(OAuthError, match="invalid_client"):
        client(server, client_secret="fbcs_old").revoke(token)


def test_credentials_beat_netrc_and_go_nowhere_else(
    server: Server, oauth: OAuthClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login wrong password wrong\n")
    monkeypatch.setenv("NETRC", str(netrc))
    code = brought(server.platform.install_from_the_marketplace())["code"]
    assert oauth.exchange(code).access_token
    server.instead = {"/oauth/token": (302, {"Location": f"{server.url}/oauth/other"}, b"")}
    with pytest.raises(ApiError) as caught:
        oauth.exchange("c")
    assert caught.value.status_code == 302
    assert "POST /oauth/other" not in server.asked


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((429, {"Retry-After": "7"}, {"statusCode": 429, "message": "Slow", "error": "Too Many Requests"}),
         RateLimited),
        ((429, {"Retry-After": "7"}, {"error": "slow_down"}), RateLimited),
        ((500, {}, {"statusCode": 500, "message": "Sorry", "error": "Internal Server Error"}), ApiError),
        ((502, {}, b"<html>"), ApiError),
        ((200, {}, b"<html>"), ApiError),
        ((200, {}, b"[]"), ApiError),
        ((400, {"X-Request-Id": "r-1"}, {"error": "invalid_request"}), OAuthError),
    ],
)  # fmt: skip
def test_other_answers(server: Server, oauth: OAuthClient, answer: Answer, expected: type[Exception]) -> None:
    server.instead = {"/oauth/token": answer}
    with pytest.raises(expected) as caught:
        oauth.exchange("c")
    assert type(caught.value) is expected
    if isinstance(caught.value, RateLimited):
        assert caught.value.retry_after == 7
    if isinstance(caught.value, OAuthError):
        assert caught.value.request_id == "r-1"


@pytest.mark.parametrize("missing", sorted(TOKEN_ANSWER.keys() - {"isTestInstall"}))
def test_incomplete_answer_is_refused_without_telling_secrets(
    server: Server, oauth: OAuthClient, missing: str
) -> None:
    incomplete = {name: value for name, value in TOKEN_ANSWER.items() if name != missing}
    server.instead = {"/oauth/token": (200, {}, incomplete)}
    with pytest.raises(ApiError, match="the token answer lacks") as caught:
        oauth.exchange("c")
    assert "hidden" not in str(caught.value)


def test_secrets_are_not_in_the_repr(server: Server, oauth: OAuthClient) -> None:
    server.instead = {"/oauth/token": (200, {}, TOKEN_ANSWER)}
    begun = oauth.begin()
    shown = repr(oauth.exchange("c")) + repr(oauth)
    assert "hidden" not in shown
    assert server.platform.client_secret not in shown
    assert begun.code_verifier not in repr(begun)


def test_no_answer_is_unreachable(server: Server) -> None:
    oauth = client(server)
    server.close()
    with pytest.raises(Unreachable):
        oauth.begin()


@pytest.mark.parametrize(
    ("expected", "received", "match"),
    [
        ("a", "a", True),
        (None, None, True),
        ("a", "b", False),
        ("a", "ä\ud800", False),
        ("a", None, False),
        (None, "a", False),
        ("", "", False),
        ("", None, False),
    ],
)
def test_states(expected: str | None, received: str | None, match: bool) -> None:
    assert states_match(expected, received) is match
    query = {"code": "c"} | ({} if received is None else {"state": received})
    if match:
        assert read_callback(query, state=expected) == "c"
    else:
        with pytest.raises(StateMismatch):
            read_callback(query, state=expected)


@pytest.mark.spec("Contract 3 OAuth 2.0", "Cancel at the consent comes back as access_denied with the state")
def test_cancel_is_an_error_with_its_code(server: Server, oauth: OAuthClient) -> None:
    begun = oauth.begin()
    query = brought(server.platform.consent(begun.url, install=False))
    with pytest.raises(OAuthError) as caught:
        read_callback(query, state=begun.state)
    assert (caught.value.error, caught.value.status_code) == ("access_denied", None)
    with pytest.raises(StateMismatch):
        read_callback(query, state="another")


def test_callback_without_anything_is_an_error() -> None:
    with pytest.raises(OAuthError, match="neither a code nor an error"):
        read_callback({}, state=None)
