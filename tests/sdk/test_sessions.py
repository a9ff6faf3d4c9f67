"""Session tokens: only the platform's own are believed, and only for a minute."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from extension_platform_sdk import (
    ApiError,
    InvalidSession,
    PlatformError,
    Session,
    Shopper,
    StorefrontSession,
    Unreachable,
    platform_keys,
    read_session_token,
    read_storefront_token,
)

SECRET = "whsec_dGhpcnR5LXR3by1ieXRlcy1vZi1zZWNyZXQtaGVyZQ=="
CLIENT = "client-1"
NOW = 1_763_650_000
CLAIMS: dict[str, Any] = {
    "aud": CLIENT,
    "sub": "user-1",
    "businessId": "b-1",
    "installationId": "i-1",
    "exp": NOW + 60,
}


def read(token: str, secret: Any = SECRET, now: float = NOW) -> Session:
    return read_session_token(token, client_id=CLIENT, secret=secret, now=now)


def issued(secret: str = SECRET, algorithm: str = "HS256", **changed: Any) -> str:
    claims = {name: value for name, value in (CLAIMS | changed).items() if value is not None}
    return jwt.encode(claims, secret, algorithm=algorithm)


@pytest.mark.spec(
    "Contract 6 Extensions", "service:init carries a sessionToken that the app's server can trust"
)
def test_token_of_the_platform_says_who_is_looking() -> None:
    session = Session("user-1", "b-1", "i-1", NOW + 60)
    assert read(issued()) == session
    assert read(issued(), secret={"i-1": SECRET}.get) == session
    assert read(issued(staffRole="MANAGER")).staff_role == "MANAGER"


def test_forged_business_is_refused() -> None:
    header, _, signature = issued().split(".")
    forged = (
        base64.urlsafe_b64encode(json.dumps(CLAIMS | {"businessId": "b-2"}).encode()).decode().rstrip("=")
    )
    with pytest.raises(InvalidSession, match="signature"):
        read(f"{header}.{forged}.{signature}")


@pytest.mark.parametrize(
    "token",
    [
        issued(secret="another secret that is long enough"),
        issued(secret=SECRET * 2, algorithm="HS512"),
        issued(aud="client-2"),
        issued(exp=NOW - 6),
        issued(exp=None),
        issued(exp="soon"),
        issued(sub=None),
        issued(businessId=5),
        issued(installationId=None),
        jwt.encode(CLAIMS, None, algorithm="none"),
        "",
        "a.b",
        "a.b.c",
        "ä.ö.ü",
        ".".join(["W10"] * 3),
    ],
)
def test_anything_else_is_refused(token: str) -> None:
    with pytest.raises(InvalidSession):
        read(token)


def test_token_of_an_unknown_installation_is_refused() -> None:
    with pytest.raises(InvalidSession, match="installation"):
        read(issued(), secret={}.get)
    with pytest.raises(InvalidSession, match="installation"):
        read(issued(), secret="")


def test_token_lives_to_its_end() -> None:
    assert read(issued(), now=NOW + 60)
    with pytest.raises(InvalidSession, match="expired"):
        read(issued(), now=NOW + 66)


# Tokens of the platform's key


class Keys:
    """A platform that publishes keys. `asked` counts how often; `status` is its answer."""

    def __init__(self) -> None:
        self.signing = [Ed25519PrivateKey.generate()]
        self.asked, self.status = 0, 200
        keys = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                keys.asked += 1
                assert self.path == "/.well-known/jwks.json"
                body = json.dumps(keys.document).encode()
                self.send_response(keys.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def document(self) -> dict[str, Any]:
        rows = [{"kty": "RSA", "kid": "other", "n": "AQAB", "e": "AQAB"}]
        for key in self.signing:
            x = base64.urlsafe_b64encode(key.public_key().public_bytes_raw()).decode().rstrip("=")
            rows.append({"kty": "OKP", "crv": "Ed25519", "kid": kid_of(key), "x": x, "use": "sig"})
        return {"keys": rows}

    def issued(self, key: Ed25519PrivateKey | None = None, **changed: Any) -> str:
        claims = CLAIMS | {"iss": self.url, "iat": NOW} | changed
        claims = {name: value for name, value in claims.items() if value is not None}
        key = key or self.signing[0]
        return jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": kid_of(key)})

    def read(self, token: str, **options: Any) -> Session:
        return read_session_token(
            token, **{"client_id": CLIENT, "base_url": self.url + "/", "now": NOW, **options}
        )


def kid_of(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()[:16]


@pytest.fixture
def keys() -> Iterator[Keys]:
    keys = Keys()
    yield keys
    keys.server.shutdown()
    keys.server.server_close()


def test_keys_are_fetched_once(keys: Keys) -> None:
    for user in ("user-1", "user-2", "user-3"):
        assert keys.read(keys.issued(sub=user)).user_id == user
    assert keys.asked == 1


def test_new_key_is_asked_for_with_a_rest_between(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    old, strange = keys.signing[0], Ed25519PrivateKey.generate()
    assert keys.read(keys.issued())
    for _ in range(3):  # strangers can't make us ask as often as they like
        with pytest.raises(InvalidSession, match="key"):
            keys.read(keys.issued(strange))
    assert keys.asked == 1
    keys.signing = [Ed25519PrivateKey.generate(), old]
    later = time.monotonic() + platform_keys.REST
    monkeypatch.setattr(platform_keys, "monotonic", lambda: later)
    for key in (None, old):
        assert keys.read(keys.issued(key))
    assert keys.asked == 2


def test_key_that_is_taken_out_ends(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_keys, "KEPT", 0.0)
    monkeypatch.setattr(platform_keys, "REST", 0.0)
    old = keys.signing[0]
    assert keys.read(keys.issued())
    keys.signing = [Ed25519PrivateKey.generate()]
    with pytest.raises(InvalidSession, match="key"):
        keys.read(keys.issued(old))


def test_known_keys_stay_good_while_the_platform_is_away(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform_keys, "KEPT", 0.0)
    monkeypatch.setattr(platform_keys, "REST", 0.0)
    assert keys.read(keys.issued())
    keys.status = 503
    assert keys.read(keys.issued())
    assert keys.asked == 2
    with pytest.raises(PlatformError):  # whether it is good isn't known
        keys.read(keys.issued(Ed25519PrivateKey.generate()))


def test_platform_that_cannot_be_asked_is_no_wrong_token(keys: Keys) -> None:
    keys.status = 503
    with pytest.raises(ApiError) as error:
        keys.read(keys.issued())
    assert error.value.status_code == 503
    with pytest.raises(Unreachable):
        keys.read(keys.issued())
    assert keys.asked == 1


@pytest.mark.spec(
    "Contract 20 One key for who is looking",
    "A token made with the webhook secret is refused for an app with EdDSA",
)
def test_only_tokens_of_the_platforms_key_are_believed(keys: Keys) -> None:
    stranger = Ed25519PrivateKey.generate()
    head, payload, signature = keys.issued().split(".")
    as_known = jwt.encode(
        CLAIMS | {"iss": keys.url}, stranger, algorithm="EdDSA", headers={"kid": kid_of(keys.signing[0])}
    )
    for token in (
        issued(),
        as_known,
        keys.issued(aud="client-2"),
        keys.issued(exp=NOW - 6),
        keys.issued(iss="https://platform.example"),
        keys.issued(sub=None),
        jwt.encode(CLAIMS | {"iss": keys.url}, keys.signing[0], algorithm="EdDSA"),  # no kid
        jwt.encode(CLAIMS, None, algorithm="none"),
        f"{head}.{payload}.{signature[:-4]}",
        f"{head}.{payload}.",
        "a.b.c",
    ):
        with pytest.raises(InvalidSession):
            keys.read(token)
    with pytest.raises(InvalidSession, match="HS256"):
        read(keys.issued())
    with pytest.raises(TypeError):
        read_session_token(issued(), client_id=CLIENT)


def test_both_kinds_are_read_while_an_app_changes(keys: Keys) -> None:
    for token in (issued(), keys.issued()):
        assert keys.read(token, secret={"i-1": SECRET}.get).user_id == "user-1"
    with pytest.raises(InvalidSession, match="signature"):
        keys.read(issued(secret="another secret that is long enough"), secret=SECRET)


def test_token_of_a_block_names_the_store_alone(keys: Keys) -> None:
    options: Any = {"client_id": CLIENT, "secret": SECRET, "base_url": keys.url, "now": NOW}
    of_block = {"aud": f"{CLIENT}/storefront", "sub": None}
    for token in (issued(**of_block), keys.issued(**of_block)):
        assert read_storefront_token(token, **options) == StorefrontSession("b-1", "i-1", NOW + 60)
        with pytest.raises(InvalidSession, match="another kind of page"):
            read_session_token(token, **options)
    for token in (issued(), keys.issued()):
        with pytest.raises(InvalidSession, match="another kind of page"):
            read_storefront_token(token, **options)
    with pytest.raises(InvalidSession):
        read_storefront_token(issued(aud=of_block["aud"], businessId=5), **options)


@pytest.mark.parametrize(
    ("claim", "shopper"),
    [
        ({"key": "shp_1", "proven": True}, Shopper("shp_1", True)),
        ({"key": "shp_1"}, Shopper("shp_1", False)),
        ({"key": 7, "proven": True}, None),
        ("shp_1", None),
        (None, None),
    ],
)
def test_token_of_a_block_names_a_shopper_who_has_proven_it(claim: Any, shopper: Shopper | None) -> None:
    token = issued(aud=f"{CLIENT}/storefront", sub=None, shopper=claim)
    found = read_storefront_token(token, client_id=CLIENT, secret=SECRET, now=NOW)
    assert found.shopper == shopper
