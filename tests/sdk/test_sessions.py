"""Session tokens of admin pages: only the platform's own are believed, and only for a minute."""

from __future__ import annotations

import base64
import json
from typing import Any

import jwt
import pytest
from extension_platform_sdk import InvalidSession, Session, read_session_token

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
