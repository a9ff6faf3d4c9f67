"""What is wrong with a URL that somebody typed in, in words for people.

These checks give early and good messages. They don't protect by themselves: a name may point elsewhere a moment
later, so the outgoing HTTP door judges each address again when it connects. Rule: docs/contract.md, 2 and 5.
"""

import queue
import re
import socket
import threading
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from common.addresses import IPAddress, is_allowed_destination, literal_address

MAX_URL_LENGTH: Final = 2048
RESOLVE_BUDGET: Final = 2.0  # seconds

# Whitespace and control characters end or split a request line; programs disagree on where a host with a
# backslash ends.
_FORBIDDEN: Final = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]")
_HOST_NAME: Final = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?", re.IGNORECASE)

# Where plain HTTP may go at all. Another spelling of this machine is no reason to leave TLS out.
_PLAIN_HTTP_HOSTS: Final = ("127.0.0.1", "localhost")

_NOT_HTTPS: Final = "Enter a URL that starts with https://."


class InvalidUrl(ValueError):
    """A URL that is refused. `str()` of it is a sentence for the person who entered the URL."""


def check_destination_url(url: str, *, debug: bool, allow_local: bool, resolve: bool = True) -> None:
    """Raise `InvalidUrl` for a URL that webhooks could not be sent to.

    HTTPS only, and plain HTTP to 127.0.0.1 and localhost with both `debug` and `allow_local`; no user name, no
    fragment; a public host. `resolve=False` leaves out the name look-up, the one part that takes time (`check_addresses`).
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
        # Public, but HTTP clients disagree on such notations, and the one that delivers refuses them.
        raise InvalidUrl(f"Enter the host as {literal}.")


def check_redirect_url(url: str, *, debug: bool) -> None:
    """Raise `InvalidUrl` for a URL that a browser should not be sent to with an authorization code.

    HTTPS, or plain HTTP to 127.0.0.1 and localhost with `debug`; no user name, no fragment (RFC 6749, 3.1.2).
    """
    _host(_parts(url), plain_http=debug)


def check_page_url(url: str, *, debug: bool) -> None:
    """Raise `InvalidUrl` for a URL that a page of ours should not load a frame or a script from.

    HTTPS, or plain HTTP to 127.0.0.1 and localhost with `debug`; no user name. A fragment is the app's own matter.
    """
    _host(_parts(url, fragment=True), plain_http=debug)


def host_of(url: str) -> str:
    """The host of a URL that was found to be in order, in one spelling: small letters, DNS form, an address in its
    usual notation, no dot at the end."""
    host = _ascii_host(urlsplit(url).hostname or "")
    literal = literal_address(host)
    return str(literal) if literal is not None else host.rstrip(".").lower()


def check_addresses(host: str, *, allow_local: bool, budget: float = RESOLVE_BUDGET) -> None:
    """Raise `InvalidUrl` where a host name has an address that is refused.

    A name with no answer within `budget` seconds passes: the endpoint may not be up yet.
    """
    if not all(is_allowed_destination(ip, allow_local) for ip in resolve_host(host, budget=budget)):
        raise _unreachable(host)


def resolve_host(host: str, *, budget: float = RESOLVE_BUDGET) -> list[IPAddress]:
    """All addresses of a host name; none where it doesn't resolve within `budget` seconds.

    The system's look-up can't be told to hurry, so it runs in a thread that is left behind when it is late.
    """
    answer: queue.SimpleQueue[list[IPAddress]] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found = []
        answer.put([ip_address(sockaddr[0]) for *_, sockaddr in found])

    threading.Thread(target=look_up, name="resolve-host", daemon=True).start()
    try:
        return answer.get(timeout=budget)
    except queue.Empty:
        return []


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
    """The host as the network will see it, once scheme, host and port are found to be in order."""
    if parts.scheme not in ("https", "http") or (parts.scheme == "http" and not plain_http):
        raise InvalidUrl(_NOT_HTTPS)
    host = _ascii_host(parts.hostname or "")
    try:
        port_is_valid = parts.port != 0
    except ValueError:
        port_is_valid = False
    if not port_is_valid:
        raise InvalidUrl("Enter a URL with a port from 1 to 65535, or without one.")
    if parts.scheme == "http" and parts.hostname not in _PLAIN_HTTP_HOSTS:
        raise InvalidUrl(_NOT_HTTPS)
    return host


def _ascii_host(host: str) -> str:
    """The host with letters beyond ASCII in their DNS form, full-width digits as digits."""
    try:
        name = host.encode("idna").decode("ascii") if ":" not in host else str(IPv6Address(host))
    except ValueError:
        name = ""
    if ":" not in name and not _HOST_NAME.fullmatch(name):
        raise InvalidUrl("Enter a URL with a valid host name.")
    return name


def _is_local_name(host: str) -> bool:
    """Names that always mean this machine (RFC 6761, 6.3)."""
    name = host.rstrip(".").lower()
    return name == "localhost" or name.endswith(".localhost")


def _unreachable(host: str) -> InvalidUrl:
    return InvalidUrl(f"Enter a URL that can be reached from the internet. {host} cannot.")
