"""Settings of an operator who has people and pages already: sign-in by an identity provider, and origins that may frame pages."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from common.http.sites import is_same_site
from common.text.lookalikes import disguise_problem
from config.env.reading import choice, env

LONGEST_ISSUER: Final = 200  # characters, of the column that keeps it beside each connection
LONGEST_LABEL: Final = 40  # characters
_NEEDED: Final = ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_LABEL")
_ORIGIN: Final = re.compile(r"https?://([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class IdentityProvider:
    """The operator's provider. `role` is that of new people, "" if they choose."""

    issuer: str
    client_id: str
    client_secret: str
    label: str
    role: str


def identity_provider(*, debug: bool) -> IdentityProvider | None:
    """`OIDC_ISSUER` with what it needs; None without it."""
    issuer = _text("OIDC_ISSUER")
    values = {name: _text(name) for name in (*_NEEDED, "OIDC_ROLE")}
    if not issuer:
        if alone := next((name for name, value in values.items() if value), ""):
            raise ImproperlyConfigured(
                f"{alone} is set and OIDC_ISSUER isn't. Set OIDC_ISSUER to the address of your identity provider, or unset {alone}."
            )
        return None
    _check_issuer(issuer, debug=debug)
    if missing := next((name for name in _NEEDED if not values[name]), ""):
        raise ImproperlyConfigured(f"{missing} is missing: sign-in by OIDC_ISSUER needs it.")
    label = values["OIDC_LABEL"]
    if len(label) > LONGEST_LABEL or not label.isprintable() or disguise_problem(label):
        raise ImproperlyConfigured(
            f"OIDC_LABEL must be a name of at most {LONGEST_LABEL} visible characters in one alphabet, not {label!r}."
        )
    return IdentityProvider(
        issuer=issuer,
        client_id=values["OIDC_CLIENT_ID"],
        client_secret=values["OIDC_CLIENT_SECRET"],
        label=label,
        role=choice("OIDC_ROLE", ("", "DEVELOPER", "MERCHANT")),
    )


def password_sign_in(provider: IdentityProvider | None) -> bool:
    """`PASSWORD_SIGN_IN`, which may be off where there is another way."""
    is_on = choice("PASSWORD_SIGN_IN", ("on", "off")) == "on"
    if not is_on and provider is None:
        raise ImproperlyConfigured(
            "PASSWORD_SIGN_IN=off needs OIDC_ISSUER: without either, there is no way to sign in. Set OIDC_ISSUER, or PASSWORD_SIGN_IN=on."
        )
    return is_on


def embed_origins(*, base_url: str, stores_url: str) -> tuple[str, ...]:
    """`EMBED_ORIGINS`: whose pages may show pages of the platform in a frame. Scripts of apps run at the stores' hosts, so none of those may."""
    origins = tuple(_text("EMBED_ORIGINS").lower().split())
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise ImproperlyConfigured(
                f"EMBED_ORIGINS must be origins separated by spaces, such as https://admin.example.com, not {origin!r}."
            )
        if not is_same_site(origin, base_url):
            raise ImproperlyConfigured(
                f"EMBED_ORIGINS has {origin}, which is another site than BASE_URL, {base_url}: browsers would send no session into its "
                "frames. Both need the same scheme, and hosts of one registered domain."
            )
        _refuse_store(origin, stores_url)
    return origins


def _refuse_store(origin: str, stores_url: str) -> None:
    host, stores = urlsplit(origin).hostname or "", urlsplit(stores_url).hostname or ""
    if f".{host}".endswith(f".{stores.removeprefix('{slug}.')}"):
        raise ImproperlyConfigured(
            f"EMBED_ORIGINS has {origin}, which is a host of STORES_URL. Scripts of apps run there, so it may frame no page."
        )


def _text(name: str) -> str:
    text: str = env.str(name, default="").strip()
    return text


def _check_issuer(issuer: str, *, debug: bool) -> None:
    """A token names its issuer in exactly these characters, so nothing is corrected here."""
    try:
        parts = urlsplit(issuer)
        host = parts.hostname or ""
        is_safe = parts.scheme == "https" or (debug and parts.scheme == "http" and _is_loopback(host))
    except ValueError:
        host, is_safe = "", False
    has_more = not issuer.isascii() or any(mark in issuer for mark in "?#@ \\")
    if not host or not is_safe or has_more or len(issuer) > LONGEST_ISSUER:
        raise ImproperlyConfigured(
            f"OIDC_ISSUER must be an https URL of at most {LONGEST_ISSUER} characters without a query, such as "
            f"https://login.example.com, not {issuer!r}. With DEBUG it may be http at 127.0.0.1 or localhost."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
