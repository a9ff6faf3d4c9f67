"""`Cross-Origin-Opener-Policy` where windows from frames of apps lead to (docs/decisions/0070)."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse

HEADER: Final = "Cross-Origin-Opener-Policy"


class OpenerPolicyMiddleware:
    """Lets a sandboxed window show the pages of stores, and those at and below the paths of `OPENED_FROM_FRAMES`.

    A window inherits the sandbox of the frame that opened it, and shows no page with another policy than this, not even
    a redirect or an error. All other pages get Django's, from `SecurityMiddleware`, which must be outside of this.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if _opens_from_frames(request):
            response.headers[HEADER] = "unsafe-none"
        return response


def _opens_from_frames(request: HttpRequest) -> bool:
    is_store = request.zone == "stores"  # type: ignore[attr-defined]
    return is_store or request.path.startswith(settings.OPENED_FROM_FRAMES)
