"""The time zone of the portal's pages: that of the person's browser, or UTC where they prefer it.

`site.js` tells it by the cookie `zone`. Days of figures stay days in UTC, as they are counted.
"""

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.functional import lazy
from django.views.decorators.http import require_POST

from accounts.validators import known_timezones
from common.web.own_pages import is_own_page

ZONE: Final = "zone"
TIMES: Final = "times"
UTC: Final = "UTC"
KEPT: Final = 365 * 24 * 3600  # seconds


def own_zone(request: HttpRequest) -> str:
    """The name of the browser's zone, or UTC as long as it is unknown."""
    name = request.COOKIES.get(ZONE, UTC)
    return name if name in known_timezones() else UTC


def zone_of(request: HttpRequest) -> str:
    return UTC if request.COOKIES.get(TIMES) == UTC else own_zone(request)


def _in_zone(words: str) -> str:
    return f"{words} ({timezone.localtime().tzname()})"


in_zone = lazy(_in_zone, str)
"""`From (CET)`: the label of a field for a time, in the zone of the page."""


@require_POST
def times(request: HttpRequest) -> HttpResponse:
    """Show all times in UTC, or for any other value in the browser's zone, and go back to the page."""
    target = request.POST.get("next", "")
    response = HttpResponseRedirect(target if is_own_page(target, request) else "/portal/")
    if request.POST.get(TIMES) == UTC:
        response.set_cookie(TIMES, UTC, max_age=KEPT, secure=settings.SECURE_BY_TLS, samesite="Lax")
    else:
        response.delete_cookie(TIMES, samesite="Lax")
    return response
