"""The time zone of the platform's pages: that of the person's browser, or UTC where they prefer it.

`site.js` tells it by the cookie `zone`. Days of figures stay days in UTC, as they are counted. A store's pages are in the store's zone,
and the admin is in UTC.
"""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.functional import lazy
from django.views.decorators.http import require_POST

from accounts.validators import known_timezones
from common.web.requests import is_own_page

ZONE: Final = "zone"
TIMES: Final = "times"
UTC: Final = "UTC"
ADMIN: Final = "/admin/"
KEPT: Final = 365 * 24 * 3600  # seconds


class PersonalTimes:
    """Renders what a view shows in the person's zone. Templates read the browser's zone as `request.own_zone`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(ADMIN):
            return self._get_response(request)
        request.own_zone = _own_zone(request)  # type: ignore[attr-defined]
        with timezone.override(UTC if request.COOKIES.get(TIMES) == UTC else request.own_zone):  # type: ignore[attr-defined]
            return self._get_response(request)


def _own_zone(request: HttpRequest) -> str:
    """The name of the browser's zone, or UTC as long as it is unknown."""
    name = request.COOKIES.get(ZONE, UTC)
    return name if name in known_timezones() else UTC


def _in_zone(words: str) -> str:
    return f"{words} ({timezone.localtime().tzname()})"


in_zone = lazy(_in_zone, str)
"""`From (CET)`: the label of a field for a time, in the zone of the page."""


@require_POST
def times(request: HttpRequest) -> HttpResponse:
    """Show all times in UTC, or for any other value in the browser's zone, and go back to the page."""
    target = request.POST.get("next", "")
    response = HttpResponseRedirect(target if is_own_page(target, request) else "/accounts/")
    if request.POST.get(TIMES) == UTC:
        response.set_cookie(TIMES, UTC, max_age=KEPT, secure=settings.SECURE_BY_TLS, samesite="Lax")
    else:
        response.delete_cookie(TIMES, samesite="Lax")
    return response
