"""Long requests of apps, kept in the session while a person signs in.

A long one wouldn't fit into the `next` of the pages on the way, where each of its escapes is escaped again.
"""

from typing import Final

from django.http import HttpRequest
from django.urls import reverse

from common.secrets import digest
from common.web.limits.auth_limits import limit_by_address

LONG: Final = 1000  # characters of an address, from which it is kept
MOST: Final = 3  # of one session; the oldest goes
_KEPT: Final = "authorization_requests"


def way_back(request: HttpRequest) -> str:
    """A short address that leads to this request again, in this browser. Raises `TooManyRequests`."""
    address = request.get_full_path()
    if len(address) <= LONG:
        return address
    limit_by_address(request, "kept_request")
    key = digest(address)[:16]
    others = [each for each in request.session.get(_KEPT, {}).items() if each[0] != key]
    request.session[_KEPT] = dict([*others, (key, address)][-MOST:])
    return reverse("merchants:kept_request", args=[key])


def kept_address(request: HttpRequest, key: str) -> str | None:
    address: str | None = request.session.get(_KEPT, {}).get(key)
    return address
