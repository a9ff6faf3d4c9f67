"""CSRF protection without tokens: only pages of the same origin may send forms (like Go's `http.CrossOriginProtection`).

Browsers send the origin of a request: current ones in `Sec-Fetch-Site`, older ones in `Origin`. A request with neither
comes from a program, which doesn't hold other people's cookies.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware, RejectRequest
from django.utils.translation import gettext as _

from common.errors import NotAllowed
from common.web.forms.stamps import is_form_of_this_address

SAFE_METHODS = ("GET", "HEAD", "OPTIONS", "TRACE")


class SameOriginMiddleware:
    """Refuses unsafe requests from pages of other origins, including sibling hosts.

    It is for zones without sessions: there is no sign-in to protect, and SameSite=Lax keeps the cookie from other
    sites.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in SAFE_METHODS and not _is_same_origin(request):
            raise NotAllowed(
                _("This form was sent from another site. Go back, reload the page and try again.")
            )
        return self.get_response(request)


def _is_same_origin(request: HttpRequest) -> bool:
    if site := request.headers.get("Sec-Fetch-Site"):
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is None or urlsplit(origin).netloc == request.get_host()


REASON = "The form is of another address or person."


class OwnFormsMiddleware(CsrfViewMiddleware):
    """Django's protection against forms of other sites. A form of ours is good for one person and one address, too, as its stamp says."""

    def _check_token(self, request: HttpRequest) -> None:
        super()._check_token(request)  # type: ignore[misc]  # Django's own hook, which its stubs lack
        if not is_form_of_this_address(request):
            raise RejectRequest(REASON)
