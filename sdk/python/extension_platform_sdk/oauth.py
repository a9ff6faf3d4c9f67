"""Installing the app on a store: OAuth 2.0 with an authorization code.

1. ``begin`` makes the address to send the merchant's browser to. Keep its ``state`` and ``code_verifier`` with the
   browser's session.
2. The merchant agrees, and the browser comes to the app's Redirect URL with a ``code``. ``read_callback`` checks the
   answer.
3. ``exchange`` turns the code into an ``Installation``: what the app has to keep of the store.

A merchant may also begin in the marketplace. Then the browser comes with a ``code`` and no ``state``, since the app
began nothing, and there is no ``code_verifier`` to send.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import requests
from requests.auth import HTTPBasicAuth

from .errors import ApiError, OAuthError, StateMismatch, Unreachable, error_from
from .transport import Session, clean_secret

METADATA_PATH = "/.well-known/oauth-authorization-server"


@dataclass(frozen=True, slots=True)
class Metadata:
    """Where the platform's endpoints are (RFC 8414)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    revocation_endpoint: str


@dataclass(frozen=True, slots=True)
class Authorization:
    """A begun installation. Send the browser to ``url``; keep the rest, out of sight of everybody else."""

    url: str
    state: str = field(repr=False)
    code_verifier: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Installation:
    """The app on one store, with its credentials: the token lives until the app is uninstalled.

    ``scope`` is what was granted, separated by spaces. Both secrets are left out of ``repr``, and so of most logs.
    """

    access_token: str = field(repr=False)
    installation_id: str
    webhook_secret: str = field(repr=False)
    business_id: str
    is_test_install: bool
    scope: str

    @property
    def scopes(self) -> list[str]:
        """The granted scopes one by one."""
        return self.scope.split()


class OAuthClient:
    """The app at the platform's authorization server.

    ``redirect_uri`` is the app's Redirect URL, letter by letter. The endpoints are asked for once, at first use.
    Every method that calls the platform raises ``OAuthError`` for an answer by RFC 6749, ``RateLimited`` or another
    ``ApiError`` for any other error answer, and ``Unreachable`` when none came. Making a client raises ``ValueError`` for
    texts that are no credentials, without showing them. Safe to use from several threads.
    """

    def __init__(
        self, base_url: str, client_id: str, client_secret: str, *, redirect_uri: str, timeout: float = 10
    ) -> None:
        self.redirect_uri = redirect_uri
        self._base_url = base_url.rstrip("/")
        client_id = clean_secret(client_id, "The client ID")
        client_secret = clean_secret(client_secret, "The client secret")
        self._client_id = client_id
        # RFC 6749 section 2.3.1: both are encoded as in a form before Basic joins them with a colon.
        self._auth = HTTPBasicAuth(quote(client_id, safe=""), quote(client_secret, safe=""))
        self._timeout = timeout
        self._metadata: Metadata | None = None

    @property
    def metadata(self) -> Metadata:
        """The platform's own word on its endpoints; asked for once.

        Raises ``ApiError`` where the document is incomplete, or speaks for another issuer (RFC 8414 section 3.3).
        """
        if self._metadata is None:
            self._metadata = self._discover()
        return self._metadata

    def begin(self, *, scope: Sequence[str] | None = None, business_id: str | None = None) -> Authorization:
        """Make the address of the consent page, with a new ``state`` and PKCE ``S256``.

        ``scope`` asks for less than the app's scopes, ``business_id`` leaves the merchant no choice of store.
        """
        state, code_verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self.redirect_uri,
            "state": state,
            "code_challenge": code_challenge(code_verifier),
            "code_challenge_method": "S256",
        }
        if scope is not None:
            query["scope"] = " ".join(scope)
        if business_id is not None:
            query["business_id"] = business_id
        return Authorization(
            f"{self.metadata.authorization_endpoint}?{urlencode(query)}", state, code_verifier
        )

    def exchange(self, code: str, *, code_verifier: str | None = None) -> Installation:
        """Turn a code into the installation; leave ``code_verifier`` out where ``begin`` did not begin it.

        Do it once for each code: a second use ends the token that the first gave. A code lives for 60 seconds;
        a used or late one raises ``OAuthError`` with ``error`` "invalid_grant".
        """
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri}
        if code_verifier is not None:
            form["code_verifier"] = code_verifier
        response = self._post(self.metadata.token_endpoint, form)
        return _installation(response.status_code, _json_object(response))

    def revoke(self, access_token: str) -> None:
        """Uninstall the app from the store of a token (RFC 7009). A token that has ended already is as good."""
        self._post(self.metadata.revocation_endpoint, {"token": access_token})

    def _discover(self) -> Metadata:
        response = self._send("GET", self._base_url + METADATA_PATH)
        record = _json_object(response)
        names = Metadata.__dataclass_fields__
        if not all(isinstance(record.get(name), str) for name in names):
            raise ApiError(response.status_code, "the metadata document lacks an endpoint")
        metadata = Metadata(**{name: record[name] for name in names})
        if metadata.issuer.rstrip("/") != self._base_url:
            raise ApiError(response.status_code, f"the metadata document is of {metadata.issuer}")
        return metadata

    def _post(self, url: str, form: dict[str, str]) -> requests.Response:
        return self._send("POST", url, data=form, auth=self._auth)

    def _send(self, method: str, url: str, **arguments: Any) -> requests.Response:
        try:
            with Session() as session:
                response = session.request(
                    method,
                    url,
                    headers={"Accept": "application/json"},
                    timeout=self._timeout,
                    allow_redirects=False,  # no endpoint redirects, and the credentials go nowhere else
                    **arguments,
                )
        except requests.RequestException as error:
            raise Unreachable(f"no answer from {self._base_url} ({type(error).__name__})") from error
        if not 200 <= response.status_code < 300:
            raise _error_from(response)
        return response


def read_callback(query: Mapping[str, str], *, state: str | None) -> str:
    """Return the code with which the browser came to the Redirect URL.

    ``query`` holds the address's parameters, ``state`` what ``begin`` gave to this very browser, ``None`` where it
    began nothing.

    Raises ``StateMismatch`` when the answer belongs to something else, and ``OAuthError`` when it is an error, such as
    "access_denied" after **Cancel**.
    """
    if not states_match(state, query.get("state")):
        raise StateMismatch("the state is not the one that this browser was sent away with")
    if "error" in query:
        raise OAuthError(query["error"], query.get("error_description", ""))
    if not query.get("code"):
        raise OAuthError("invalid_request", "The answer holds neither a code nor an error.")
    return query["code"]


def states_match(expected: str | None, received: str | None) -> bool:
    """Compare in constant time. Nothing expected and nothing received is a match; an empty text never is."""
    if expected is None or received is None:
        return expected is received
    return expected != "" and hmac.compare_digest(expected.encode(), received.encode(errors="replace"))


def code_challenge(code_verifier: str) -> str:
    """The ``S256`` challenge of a verifier (RFC 7636 section 4.2)."""
    digest = hashlib.sha256(code_verifier.encode("ascii")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _error_from(response: requests.Response) -> ApiError | OAuthError:
    """By RFC 6749 section 5.2 where the answer is one; the platform's own errors have ``statusCode`` as well."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if response.status_code != 429 and isinstance(body, dict) and "statusCode" not in body:
        code, description = body.get("error"), body.get("error_description")
        if isinstance(code, str):
            request_id = response.headers.get("X-Request-Id")
            return OAuthError(
                code, str(description or ""), status_code=response.status_code, request_id=request_id
            )
    return error_from(response)


def _json_object(response: requests.Response) -> dict[str, Any]:
    try:
        record = response.json()
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise ApiError(response.status_code, "the answer is not a JSON object")
    return record


def _installation(status: int, record: dict[str, Any]) -> Installation:
    """Raises ``ApiError`` for an answer that lacks what the app needs, without quoting it: it holds secrets."""
    names = ("access_token", "installationId", "webhookSecret", "businessId", "scope")
    missing = [name for name in names if not isinstance(record.get(name), str)]
    if missing or str(record.get("token_type", "")).lower() != "bearer":
        raise ApiError(status, f"the token answer lacks {', '.join(missing) or 'the token type Bearer'}")
    return Installation(
        access_token=record["access_token"],
        installation_id=record["installationId"],
        webhook_secret=record["webhookSecret"],
        business_id=record["businessId"],
        is_test_install=bool(record.get("isTestInstall")),
        scope=record["scope"],
    )
