"""Adds the rate headers to every response, including those that don't come from a view."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from appapi import limits


class RateHeadersMiddleware:
    """Writes the counts of `views.base`. It is the outermost middleware, so redirects and crashes get the headers too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if limits.covers(request.path_info):
            for name, value in limits.state_of(request).headers().items():
                response[name] = value
        return response
