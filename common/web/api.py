"""Middleware for API paths."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

POLICY: Final = "default-src 'none'; frame-ancestors 'none'"


class ApiMiddleware:
    """Accepts a trailing slash without a redirect (routes have none), and sets a policy that lets responses load nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.path_info = request.path_info.removesuffix("/")  # only one: an empty id stays invalid
        response = self.get_response(request)
        response.headers["Content-Security-Policy"] = POLICY
        # As CommonMiddleware does, which probes don't meet. A 304 would have to name the length of what it leaves out.
        if not response.streaming and response.status_code != 304:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        return response
