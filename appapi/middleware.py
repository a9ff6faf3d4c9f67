"""The rate headers stand on every answer, also on those that no view gave."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from appapi import limits


class RateHeadersMiddleware:
    """Writes what `views.base` counted. Stands first, so that a redirect or a crash has the headers too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if limits.covers(request.path_info):
            for name, value in limits.state_of(request).headers().items():
                response[name] = value
        return response
