"""For what pages of shops ask for themselves, which are on other origins."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

_ALLOWED: Final = "storeapi.origin"  # in the request's environ, where a client's headers can't reach


class OriginMiddleware:
    """Lets the origin that the view has allowed read the answer, errors too. Answers depend on the origin, whatever they are."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        patch_vary_headers(response, ["Origin"])
        if origin := request.META.get(_ALLOWED):
            response["Access-Control-Allow-Origin"] = origin
        return response


def allow_origin(request: HttpRequest, origin: str) -> None:
    """Allow it in the response to this request."""
    request.META[_ALLOWED] = origin
