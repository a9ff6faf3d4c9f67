"""An authorization server that plays by the contract's section 3, without a line of ours in it.

It answers over whatever HTTP server a test has: ``answer`` gets a request's parts and returns status, headers and
body. The merchant is the test: ``consent`` presses **Install** or **Cancel**.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import uuid
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

Answer = tuple[int, dict[str, str], Any]


@dataclass
class Grant:
    """A code and what it is bound to."""

    redirect_uri: str
    challenge: str | None
    business_id: str
    scope: str
    token: str = ""


@dataclass
class AuthorizationServer:
    """One app's view of the platform; ``tokens`` maps access tokens to their installations."""

    client_id: str = "client-of-the-test"
    client_secret: str = "fbcs_" + "s3cr3t:/+~" * 3
    scopes: tuple[str, ...] = ("read_products", "read_orders", "write_orders")
    redirect_uri: str = "https://app.example.com/callback"
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    grants: dict[str, Grant] = field(default_factory=dict)
    token_calls: int = 0

    def metadata(self, issuer: str) -> dict[str, Any]:
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/oauth/authorize",
            "token_endpoint": f"{issuer}/oauth/token",
            "revocation_endpoint": f"{issuer}/oauth/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }

    def consent(self, url: str, *, install: bool = True, business_id: str = "") -> str:
        """What the merchant's browser is sent to, from the address of the consent page."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert query["response_type"] == "code"
        assert query["client_id"] == self.client_id
        assert query.get("redirect_uri", self.redirect_uri) == self.redirect_uri
        assert query.get("code_challenge_method", "S256") == "S256"
        state = {"state": query["state"]} if "state" in query else {}
        if not install:
            return f"{self.redirect_uri}?{urlencode({'error': 'access_denied', **state})}"
        code = secrets.token_urlsafe(24)
        self.grants[code] = Grant(
            self.redirect_uri,
            query.get("code_challenge"),
            business_id or query.get("business_id") or str(uuid.uuid4()),
            query.get("scope") or " ".join(self.scopes),
        )
        return f"{self.redirect_uri}?{urlencode({'code': code, **state})}"

    def install_from_the_marketplace(self, business_id: str = "") -> str:
        """**Install** in the marketplace, and at the consent: a code, and no state."""
        return self.consent(f"/?response_type=code&client_id={self.client_id}", business_id=business_id)

    def answer(self, method: str, path: str, authorization: str, body: bytes, issuer: str) -> Answer | None:
        """``None`` for a path that isn't one of these."""
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        match method, path:
            case "GET", "/.well-known/oauth-authorization-server":
                return 200, {}, self.metadata(issuer)
            case "POST", "/oauth/token":
                self.token_calls += 1
                return self._token(authorization, form)
            case "POST", "/oauth/revoke":
                if not self._knows(authorization):
                    return _unknown_client()
                self.tokens.pop(form.get("token", ""), None)
                return 200, {}, {}
        return None

    def _token(self, authorization: str, form: dict[str, str]) -> Answer:
        if not self._knows(authorization):
            return _unknown_client()
        if form.get("grant_type") != "authorization_code":
            return 400, {}, {"error": "unsupported_grant_type"}
        grant = self.grants.get(form.get("code", ""))
        if grant is None or form.get("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
            return _invalid_grant()
        if grant.token:
            self.tokens.pop(grant.token, None)  # a further use ends the token
            return _invalid_grant()
        if grant.challenge is not None:
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != grant.challenge:
                return _invalid_grant()
        return 200, {"Cache-Control": "no-store"}, self._issue(grant)

    def _issue(self, grant: Grant) -> dict[str, Any]:
        grant.token = f"fbat_{secrets.token_urlsafe(32)}"
        record = {
            "installationId": str(uuid.uuid4()),
            "webhookSecret": "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode(),
            "businessId": grant.business_id,
            "isTestInstall": False,
        }
        for token, installed in list(self.tokens.items()):
            if installed["businessId"] == grant.business_id:
                record = self.tokens.pop(token)  # the same installation; the old token ends
        self.tokens[grant.token] = record
        return {
            "access_token": grant.token,
            "token_type": "Bearer",
            "scope": grant.scope,
            **{
                name: record[name]
                for name in ("installationId", "webhookSecret", "businessId", "isTestInstall")
            },
        }

    def _knows(self, authorization: str) -> bool:
        scheme, _, value = authorization.partition(" ")
        if scheme != "Basic":
            return False
        pair = base64.b64decode(value).decode().partition(":")
        return (unquote(pair[0]), unquote(pair[2])) == (self.client_id, self.client_secret)


def _invalid_grant() -> Answer:
    return 400, {}, {"error": "invalid_grant", "error_description": "The code is not valid."}


def _unknown_client() -> Answer:
    return 401, {"WWW-Authenticate": 'Basic realm="api"'}, {"error": "invalid_client"}


def send(handler: Any, answer: Answer) -> None:
    """Write an answer with the standard library's request handler."""
    status, headers, record = answer
    body = record if isinstance(record, bytes) else json.dumps(record).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)
