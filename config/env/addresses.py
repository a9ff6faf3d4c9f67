"""Where the platform and its stores are, which proxies may say so, and what the operator's links lead to."""

import re
from datetime import UTC, date, datetime, time, timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.env.reading import env, flag

PUBLIC_LINK_SHAPE = re.compile(r"(mailto:[^\s@]+@[^\s@]+|https://\S+)")
SECURITY_URI_SHAPE = re.compile(r"(mailto:[^\s@]+@[^\s@]+|https://\S+|tel:\+?[0-9-]+)")
STORES_URL_SHAPE = re.compile(r"https?://(\{slug\}\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?")


def base_url(port: int) -> str:
    """`BASE_URL`: the origin of the platform."""
    url: str = env.str("BASE_URL", default=f"http://127.0.0.1:{port}").rstrip("/")
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ImproperlyConfigured(f"BASE_URL must be an http or https URL, not {url!r}.")
    return url


def stores_url(*, base_url: str, port: int, debug: bool) -> str:
    """`STORES_URL`: the origin of the stores, where `{slug}` stands for one store's name.

    Scripts of apps run there, so it may be neither the platform's origin nor a host that shares cookies with it.
    Without `DEBUG` each store also needs its own origin.
    """
    url = env.str("STORES_URL", default="").strip().rstrip("/").lower()
    platform = urlsplit(base_url)
    if not url and debug:
        other = "127.0.0.1" if platform.hostname == "localhost" else "localhost"
        return f"{platform.scheme}://{other}:{port}"
    if not url:
        raise ImproperlyConfigured(
            "STORES_URL is missing: without DEBUG it must name a host for the stores, apart from that of BASE_URL and "
            "with {slug} for the store, such as https://{slug}.stores.example."
        )
    if not STORES_URL_SHAPE.fullmatch(url):
        raise ImproperlyConfigured(
            f"STORES_URL must be an address such as https://{{slug}}.stores.example, with nothing behind the host and "
            f"{{slug}} as the whole first part of it, not {url!r}."
        )
    if "{slug}" not in url and not debug:
        raise ImproperlyConfigured(
            f"STORES_URL must have {{slug}} in its host, not {url!r}: on a host that stores share, a script of one "
            "store's app could read the carts and orders of another. Set it to an address such as "
            "https://{slug}.stores.example."
        )
    _refuse_kin(platform.hostname or "", urlsplit(url).hostname or "")
    if urlsplit(url).scheme != platform.scheme:
        raise ImproperlyConfigured(
            f"STORES_URL and BASE_URL must both be https or both be http, not {url!r} and {base_url!r}."
        )
    return url


def _refuse_kin(platform: str, stores: str) -> None:
    """Raise if the hosts are the same or one is below the other, because they could then share cookies."""
    domain = stores.removeprefix("{slug}.")
    if f".{platform}".endswith(f".{domain}") or f".{domain}".endswith(f".{platform}"):
        raise ImproperlyConfigured(
            f"STORES_URL is on {stores} and BASE_URL on {platform}. Scripts of apps run in the stores, so neither host "
            "may be the other's or below it. Set STORES_URL to a host of another domain."
        )


def cookie_name(name: str, base_url: str, *, debug: bool) -> str:
    """A name that only this server's cookies have.

    Over TLS, browsers accept a cookie with the prefix `__Host-` for this host alone. On a developer's machine the name has the port:
    cookies know none, so another server there would sign people out here.
    """
    parts = urlsplit(base_url)
    if parts.scheme == "https":
        return f"__Host-{name}"
    return f"{name}_{parts.port}" if debug and parts.port else name


def hosts(*urls: str) -> list[str]:
    """The entries of `ALLOWED_HOSTS` for these URLs. A leading dot means a domain and all its subdomains."""
    return [(urlsplit(url).hostname or "").replace("{slug}.", ".") for url in urls]


def trusted_proxies() -> tuple[str | IPv4Network | IPv6Network, ...]:
    """`TRUSTED_PROXIES`: networks separated by commas, and `unix` for a server behind a Unix socket."""
    if env.str("BEHIND_PROXY", default=""):
        raise ImproperlyConfigured(
            "BEHIND_PROXY is not a setting any more. Set TRUSTED_PROXIES to the addresses or networks from which your "
            "proxies connect, such as 127.0.0.1 or 10.0.0.0/8."
        )
    parts = [part.strip() for part in env.str("TRUSTED_PROXIES", default="").split(",")]
    try:
        return tuple(part if part == "unix" else ip_network(part) for part in parts if part)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"TRUSTED_PROXIES must be networks separated by commas, such as 127.0.0.1, 10.0.0.0/8: {error}."
        ) from error


def public_link(name: str) -> str:
    """An https link, or an e-mail address as `mailto:`; empty if it isn't set."""
    text = env.str(name, default="").strip()
    if text and not PUBLIC_LINK_SHAPE.fullmatch(text):
        raise ImproperlyConfigured(
            f"{name} must be a link that starts with https://, or mailto: and an e-mail address, not {text!r}."
        )
    return text


def local_destinations(*, debug: bool) -> bool:
    """`ALLOW_LOCAL_DESTINATIONS`, which would let apps of strangers reach the services of a production machine."""
    allowed = flag("ALLOW_LOCAL_DESTINATIONS")
    if allowed and not debug:
        raise ImproperlyConfigured(
            "ALLOW_LOCAL_DESTINATIONS works only with DEBUG: it lets apps reach the services of this machine. "
            "Unset it, or set DEBUG=1 on a development machine."
        )
    return allowed


def security_txt(base_url: str, *, debug: bool) -> str:
    """The text of `/.well-known/security.txt` (RFC 9116), from `SECURITY_CONTACT`, `SECURITY_EXPIRES` and
    `SECURITY_POLICY`. Empty without a contact, except in `DEBUG`.

    Without `SECURITY_EXPIRES` the text is good for half a year from this start.
    """
    contacts = env.list("SECURITY_CONTACT", default=["mailto:security@localhost"] if debug else [])
    if not contacts:
        return ""
    if not all(SECURITY_URI_SHAPE.fullmatch(contact) for contact in contacts):
        raise ImproperlyConfigured(
            "SECURITY_CONTACT must be addresses such as mailto:security@example.com or https://example.com/security, "
            f"separated by commas, not {', '.join(contacts)!r}."
        )
    policy = env.str("SECURITY_POLICY", default="").strip()
    if policy and not policy.startswith("https://"):
        raise ImproperlyConfigured(f"SECURITY_POLICY must be an https URL, not {policy!r}.")
    lines = [f"Contact: {contact}" for contact in contacts]
    lines += [f"Expires: {_security_expires()}", "Preferred-Languages: en"]
    lines += [f"Canonical: {base_url}/.well-known/security.txt"]
    lines += [f"Policy: {policy}"] if policy else []
    return "\n".join(lines) + "\n"


def _security_expires() -> str:
    text = env.str("SECURITY_EXPIRES", default="").strip()
    now = datetime.now(UTC)
    if not text:
        return f"{now + timedelta(days=182):%Y-%m-%dT%H:%M:%SZ}"
    try:
        expires = datetime.combine(date.fromisoformat(text), time(), UTC)
    except ValueError:
        raise ImproperlyConfigured(
            f"SECURITY_EXPIRES must be a date such as 2027-06-30, not {text!r}."
        ) from None
    return f"{expires:%Y-%m-%dT%H:%M:%SZ}"
