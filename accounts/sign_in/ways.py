"""Where people go on after they have signed in: the ways that a shop may name, and long ones that are kept meanwhile.

A long way wouldn't fit into the `next` of the pages between, where each of its escapes is escaped again. It waits in the browser's
session for an hour, and `/merchant/continue/<key>/` leads to it.
"""

import re
import time
from typing import Final

from django.http import HttpRequest
from django.urls import reverse

from common.secrets import digest
from common.web.limits import limit_by_address

LONGEST: Final = 7500  # characters that a shop may name
LIFETIME: Final = 3600  # seconds
MOST_KEPT: Final = 3  # in one session; the oldest goes
_KEPT: Final = "kept_ways"  # in the session: key -> [way, time]

_ROOTS: Final = ("/merchant/", "/marketplace/", "/oauth/authorize?")
_VISIBLE: Final = re.compile(r"[!-~]+")
_ELSEWHERE: Final = re.compile(r"//|/\.{1,2}(?:/|\Z)|%2e|%2f|%5c", re.IGNORECASE)  # in a path
WRONG: Final = (
    f"Must be a path and query of at most {LONGEST:,} visible ASCII characters that begins with /merchant/, /marketplace/ or "
    "/oauth/authorize?, without a backslash or a fragment, and without //, . or .. parts, %2e, %2f and %5c in the path."
)


def is_for_shops(way: str) -> bool:
    """Whether a ticket may lead there (contract, section 17, "People"). It is on this site, whatever a browser makes of it."""
    path = way.partition("?")[0]
    return (
        way.startswith(_ROOTS)
        and len(way) <= LONGEST
        and _VISIBLE.fullmatch(way) is not None
        and not {"\\", "#"} & set(way)
        and _ELSEWHERE.search(path) is None
    )


def kept(request: HttpRequest, way: str, longest: int) -> str:
    """The way itself, or a short one that leads to it in this browser. Raises `TooManyRequests`."""
    if len(way) <= longest:
        return way
    limit_by_address(request, "kept_request")
    key = digest(way)[:16]
    others = [each for each in request.session.get(_KEPT, {}).items() if each[0] != key]
    request.session[_KEPT] = dict([*others, (key, [way, time.time()])][-MOST_KEPT:])
    return reverse("merchants:continue", args=[key])


def way_of(request: HttpRequest, key: str) -> str | None:
    """None after an hour, and in another browser."""
    way, since = request.session.get(_KEPT, {}).get(key, ("", 0.0))
    return way if time.time() - since < LIFETIME else None


def whole(request: HttpRequest, way: str) -> str:
    """The way to which a short one leads."""
    found = _SHORT.fullmatch(way)
    return (found and way_of(request, found[1])) or way


_SHORT: Final = re.compile(r"/merchant/continue/(\w{1,64})/?")


def take_along(request: HttpRequest) -> None:
    """Empty the session, which gets another key, but for the ways."""
    ways = request.session.get(_KEPT)
    request.session.flush()
    if ways:
        request.session[_KEPT] = ways
