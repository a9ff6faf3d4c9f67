"""Checks URLs that people enter, with messages for them (contract, sections 2 and 5). Tells our own from those of other servers, and adds
parameters to URLs of apps.

These checks give early, helpful messages. They are not the protection: a name may point elsewhere a moment later, so
the transport checks each address again when it connects.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from django.conf import settings
from oauthlib.uri_validate import is_absolute_uri

from common import strangers
from common.http import transport
from common.http.addresses import IPAddress, is_allowed_destination, literal_address

MAX_URL_LENGTH: Final = 2048
RESOLVE_BUDGET: Final = 2.0  # seconds

# Whitespace and control characters could split a request line, and programs disagree on where a host with a backslash
# ends.
_FORBIDDEN: Final = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]")
# Beyond what RFC 3986 has in paths and queries.
_NOT_IN_URIS: Final = re.compile(r"[^A-Za-z0-9._~:/?@!$&'()*+,;=%-]|%(?![0-9A-Fa-f]{2})")
_HOST_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.IGNORECASE)

# The only hosts for plain HTTP. Other spellings of this machine need TLS.
_PLAIN_HTTP_HOSTS: Final = ("127.0.0.1", "localhost")

NOT_ASCII: Final = "Write the host in ASCII, other letters in the form xn--…."
_NOT_HTTPS: Final = "Enter a URL that starts with https://."
_NOT_HTTPS_OR_LOCAL: Final = "Enter a URL that starts with https://, or with http://localhost or http://127.0.0.1 for an app on this machine."


class InvalidUrl(ValueError):
    """The URL is refused. `str()` of the error is a message for the person who entered the URL."""


def check_destination_url(url: str, *, debug: bool, allow_local: bool, resolve: bool = True) -> None:
    """Raise `InvalidUrl` for a URL that we may not send requests to.

    It must be HTTPS, or plain HTTP to 127.0.0.1 and localhost with both `debug` and `allow_local`. It must have a
    public host, and neither a user name nor a fragment. `resolve=False` skips the slow part, the name lookup.
    """
    host = _host(_parts(url), plain_http=debug and allow_local)
    literal = literal_address(host)
    if literal is None:
        if _is_local_name(host) and not allow_local:
            raise _unreachable(host)
        if resolve:
            check_addresses(host, allow_local=allow_local)
    elif not is_allowed_destination(literal, allow_local):
        raise _unreachable(host)
    elif isinstance(literal, IPv4Address) and host != str(literal):
        # It is public, but HTTP clients disagree on such notations, and ours refuses them.
        raise InvalidUrl(f"Enter the host as {literal}.")


def check_redirect_url(url: str, *, debug: bool) -> None:
    """Raise `InvalidUrl` for a URL to which browsers may not be redirected with an authorization code.

    It must be HTTPS, or plain HTTP to 127.0.0.1 and localhost with `debug`, with neither a user name nor a fragment
    (RFC 6749, 3.1.2), and a URI as RFC 3986 writes it, which the library behind the consent page demands.
    """
    parts = _parts(url)
    _host(parts, plain_http=debug)
    if is_absolute_uri(url):
        return
    if wrong := _NOT_IN_URIS.search(f"{parts.path}?{parts.query}"):
        raise InvalidUrl(
            f"Write {wrong[0]} in the URL as {quote(wrong[0], safe='')}: RFC 3986 allows it only in this form."
        )
    raise InvalidUrl("Enter a URL in the form of RFC 3986.")


def check_page_url(url: str, *, debug: bool) -> None:
    """Raise `InvalidUrl` for a URL from which our pages may not load a frame or a script.

    It must be HTTPS, or plain HTTP to 127.0.0.1 and localhost with `debug`, without a user name. It may have a
    fragment.
    """
    _host(_parts(url, fragment=True), plain_http=debug)


def host_of(url: str) -> str:
    """The host of a valid URL in one spelling: lower case, addresses in the usual notation, no final dot."""
    host = urlsplit(url).hostname or ""
    literal = literal_address(host)
    return str(literal) if literal is not None else host.rstrip(".").lower()


def origin_of(url: str) -> str:
    """Scheme, host and port, as browsers compare them in `event.origin` and in policies."""
    parts = urlsplit(url)
    host = host_of(url)
    host = f"[{host}]" if ":" in host else host
    default = {"https": 443, "http": 80}.get(parts.scheme)
    port = f":{parts.port}" if parts.port and parts.port != default else ""
    return f"{parts.scheme}://{host}{port}"


def check_addresses(host: str, *, allow_local: bool, budget: float = RESOLVE_BUDGET) -> None:
    """Raise `InvalidUrl` if a host name has an address that is refused.

    A name that can't be resolved within `budget` seconds passes, because the server may not be running yet.
    """
    if not all(is_allowed_destination(ip, allow_local) for ip in resolve_host(host, budget=budget)):
        raise _unreachable(host)


def resolve_host(host: str, *, budget: float = RESOLVE_BUDGET) -> list[IPAddress]:
    """All addresses of a host name. Empty if it can't be resolved within `budget` seconds, or within the free time of a
    web request (`common.strangers`)."""
    try:
        found = strangers.result_within(transport.look_up(host, timeout=budget), budget)
    except TimeoutError:
        return []
    return [ip_address(address) for address in found]


def _parts(url: str, *, fragment: bool = False) -> SplitResult:
    if not url:
        raise InvalidUrl("Enter a URL.")
    if len(url) > MAX_URL_LENGTH:
        raise InvalidUrl(f"Enter a URL of at most {MAX_URL_LENGTH} characters.")
    if _FORBIDDEN.search(url):
        raise InvalidUrl("Enter a URL without spaces, backslashes and control characters.")
    if "#" in url and not fragment:
        raise InvalidUrl("Enter a URL without a fragment, the part that begins with #.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InvalidUrl("Enter a valid URL.") from None
    if "@" in parts.netloc:
        raise InvalidUrl("Enter a URL without a user name and password.")
    return parts


def _host(parts: SplitResult, *, plain_http: bool) -> str:
    """The host. Raises `InvalidUrl` for a wrong scheme, host or port."""
    not_https = _NOT_HTTPS_OR_LOCAL if plain_http else _NOT_HTTPS
    if parts.scheme not in ("https", "http") or (parts.scheme == "http" and not plain_http):
        raise InvalidUrl(not_https)
    host = _checked(parts.hostname or "")
    try:
        port_is_valid = parts.port != 0
    except ValueError:
        port_is_valid = False
    if not port_is_valid:
        raise InvalidUrl("Enter a URL with a port from 1 to 65535, or without one.")
    if parts.scheme == "http" and parts.hostname not in _PLAIN_HTTP_HOSTS:
        raise InvalidUrl(not_https)
    return host


def _checked(host: str) -> str:
    """The host, an IPv6 address in the usual notation.

    Letters beyond ASCII are refused: programs map some of them to different names (ß to ss, or to itself), so a request
    could go to another server than the one that a browser opens.
    """
    if not host.isascii():
        raise InvalidUrl(NOT_ASCII)
    if ":" not in host and _HOST_NAME.fullmatch(host):
        return host
    try:
        return str(IPv6Address(host))
    except ValueError:
        raise InvalidUrl("Enter a URL with a valid host name.") from None


def _is_local_name(host: str) -> bool:
    """Whether the name always means this machine (RFC 6761, 6.3)."""
    name = host.rstrip(".").lower()
    return name == "localhost" or name.endswith(".localhost")


def _unreachable(host: str) -> InvalidUrl:
    return InvalidUrl(f"Enter a URL that can be reached from the internet. {host} cannot.")


def is_own(url: str) -> bool:
    """Whether the service answers at a valid URL: on `BASE_URL`, `STORES_URL` or another name that it listens to, at
    the port of one of the two."""
    if _port(url) not in {_port(settings.BASE_URL), _port(settings.STORES_URL)}:
        return False
    names = {_name(settings.BASE_URL), _name(settings.STORES_URL), *settings.ALLOWED_HOSTS} - {"*"}
    return any(_covers(name.strip("[]").lower(), host_of(url)) for name in names)


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or {"http": 80, "https": 443}[parts.scheme]


def _name(url: str) -> str:
    """As `ALLOWED_HOSTS` writes it: the hosts of all stores are their domain with a leading dot."""
    return (urlsplit(url).hostname or "").replace("{slug}.", ".")


def _covers(pattern: str, host: str) -> bool:
    """As Django reads `ALLOWED_HOSTS`: a leading dot covers the domain and everything below it."""
    if pattern.startswith("."):
        return host == pattern[1:] or host.endswith(pattern)
    return host == pattern


def with_parameters(url: str, parameters: Iterable[tuple[str, str]]) -> str:
    """The URL with parameters behind its own query, which stays as it was written, byte for byte (RFC 6749, 3.1.2)."""
    address, mark, fragment = url.partition("#")
    joint = "" if address.endswith(("?", "&")) else "&" if "?" in address else "?"
    return f"{address}{joint}{urlencode(list(parameters))}{mark}{fragment}"
