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
        if not response.streaming:  # as CommonMiddleware does, which probes don't meet
            response.headers.setdefault("Content-Length", str(len(response.content)))
        return response
