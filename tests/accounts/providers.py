"""Identity providers: a real one, as a process, and one that says and signs whatever a test tells it."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client

from accounts.sign_in import provider
from config.env.people import IdentityProvider
from tests.by_hand import Page
from tests.ports import free_port
from tests.sdk.node_tools import ROOT

CALLBACK = "/accounts/oidc/login/callback/"
LABEL = "Atrium"
CLIENT, SECRET = "the-platform", "a secret: with / and %, longer than 32 bytes"
HTML = {"accept": "text/html"}
LIBRARY = ROOT / "build/node/node_modules/oidc-provider/lib/index.js"
KEY = rsa.generate_private_key(65537, 2048)
OTHER_KEY = rsa.generate_private_key(65537, 2048)


def settings_of(issuer: str, role: str = "DEVELOPER") -> IdentityProvider:
    return IdentityProvider(issuer, CLIENT, SECRET, LABEL, role)


def leave(browser: Client, page: str = "/accounts/oidc/login/", **fields: str) -> str:
    """Press the button, and read the address at the provider that the browser is sent to."""
    response = browser.post(page, fields, headers=HTML, follow=True)
    return address_in(response)


def address_in(response: Any) -> str:
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', response.content.decode())
    assert found, response.content.decode()[:3000]
    return unescape(found[1])


# One that does what a test says


class HostileIssuer:
    """An issuer at a port of its own. `claims`, `config`, `userinfo` and `response` change what it says next.

    `sign` makes the ID token of its claims; a test replaces it.
    """

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.config: dict[str, Any] = {}
        self.userinfo: dict[str, Any] | None = None
        self.sign = lambda claims: jwt.encode(claims, KEY, "RS256", {"kid": "one"})
        self.keys = [public_key(KEY, kid="one")]
        self.asked: list[str] = []  # paths
        self.forgets_codes = True
        self.broken: Exception | None = None
        self._codes: dict[str, dict[str, str]] = {}

    def __enter__(self) -> Self:
        issuer = self
        provider.forget()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer._answer(self, b"")

            def do_POST(self) -> None:
                try:
                    issuer._answer(self, self.rfile.read(int(self.headers["Content-Length"])))
                except Exception as error:  # a test must not pass for it
                    issuer.broken = error
                    raise

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        assert self.broken is None, self.broken
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        path = urlsplit(handler.path).path
        self.asked.append(path)
        status, answer = (
            200,
            {
                "/.well-known/openid-configuration": self._description,
                "/keys": lambda: {"keys": self.keys},
                "/token": lambda: self._token(dict(parse_qsl(body.decode()))),
                "/userinfo": lambda: self.userinfo,
            }[path](),
        )
        if answer is None:
            status, answer = 400, {"error": "invalid_grant"}
        sent = json.dumps(answer).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    def _description(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **self.config,
        }

    def _token(self, sent: dict[str, str]) -> dict[str, Any] | None:
        """As the standard says: a code works once, for the client that proves to have asked for it."""
        asked = self._codes.get(sent["code"])
        if self.forgets_codes:
            self._codes.pop(sent["code"], None)
        hashed = base64.urlsafe_b64encode(hashlib.sha256(sent["code_verifier"].encode()).digest())
        if asked is None or hashed.rstrip(b"=").decode() != asked["code_challenge"]:
            return None
        if (sent["client_id"], sent["client_secret"]) != (CLIENT, SECRET):
            return None
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": "person-1",
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
            "email": "nora@example.com",
            "email_verified": True,
            "name": "Nora",
        }
        if asked.get("max_age") == "0":
            claims["auth_time"] = now
        claims = {name: value for name, value in (claims | self.claims).items() if value is not None}
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": self.sign(claims)}

    def authorize(self, url: str, **response: str | None) -> str:
        """What the person's browser is sent back to. `response` changes its query; None leaves a part out."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert asked["code_challenge_method"] == "S256"
        code = hashlib.sha256(url.encode()).hexdigest()
        self._codes[code] = asked
        query = {"code": code, "state": asked["state"], "iss": self.url} | response
        kept = urlencode({name: value for name, value in query.items() if value is not None})
        return f"{urlsplit(asked['redirect_uri']).path}?{kept}"


def public_key(key: rsa.RSAPrivateKey, **more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
    return found | {"use": "sig", "alg": "RS256"} | more


# A real one


class RealProvider:
    """npm's `oidc-provider`. `sign_in` is what a person's browser does there."""

    def __init__(self, url: str) -> None:
        self.url, self.pages_seen = url, 0

    def sign_in(self, url: str, name: str, browser: requests.Session | None = None) -> str:
        """Sign in and agree, as far as the provider asks. Returns the address that leads back."""
        browser = browser or requests.Session()
        response = browser.get(url, allow_redirects=False)
        while True:
            if response.is_redirect:
                target = urljoin(response.url, response.headers["Location"])
                if not target.startswith(self.url):
                    return target
                response = browser.get(target, allow_redirects=False)
                continue
            assert response.status_code == 200, response.text
            form = next(
                each for each in Page(response.url, 200, response.text).forms if each.method == "post"
            )
            fields = dict(form.fields) | (
                {"login": name, "password": "any"} if "login" in dict(form.fields) else {}
            )
            self.pages_seen += 1
            response = browser.post(urljoin(response.url, form.action), fields, allow_redirects=False)


@contextmanager
def real_provider(redirect_uri: str) -> Iterator[RealProvider]:
    if shutil.which("node") is None or not LIBRARY.exists():
        pytest.skip("needs Node and oidc-provider in build/node")
    port = free_port()
    script = Path(__file__).with_name("identity_provider.mjs")
    arguments = [LIBRARY.as_uri(), str(port), CLIENT, SECRET, redirect_uri]
    process = subprocess.Popen(
        ["node", str(script), *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield RealProvider(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(10)
