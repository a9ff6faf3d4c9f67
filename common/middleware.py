"""Middleware of the whole site: API paths with or without a slash, methods, and errors in the right shape."""

import logging
from collections.abc import Callable, Mapping

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render

from common.errors import error_body, status_name
from common.rest.errors import headers_of, status_and_message

log = logging.getLogger(__name__)

API_ROOTS = (
    "/app-api", "/webhooks", "/developer", "/auth", "/oauth/token", "/oauth/revoke", "/.well-known",
)  # fmt: skip

PAGE_METHODS = ("GET", "HEAD", "OPTIONS", "POST")

GetResponse = Callable[[HttpRequest], HttpResponse]


def is_api_path(path: str) -> bool:
    """Whether a path belongs to those that always answer JSON."""
    return path.startswith(API_ROOTS) and any(
        path == root or path.startswith(root + "/") for root in API_ROOTS
    )


def error_response(
    request: HttpRequest, status: int, message: str, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The error shape, or an error page where the caller is a browser on a page's path."""
    wants_page = request.get_preferred_type(["application/json", "text/html"]) == "text/html"
    if is_api_path(request.path_info) or not wants_page:
        response: HttpResponse = JsonResponse(error_body(status, message), status=status)
    else:
        context = {"status": status, "name": status_name(status), "message": message}
        response = render(request, "error.html", context, status=status)
    for name, value in (headers or {}).items():
        response[name] = value
    return response


def answer_to(request: HttpRequest, error: Exception) -> HttpResponse:
    """What is told of an exception; one that is our fault is recorded."""
    status, message = status_and_message(error)
    if status >= 500:
        log.error(
            "%s while answering %s %s", type(error).__name__, request.method, request.path, exc_info=error
        )
    return error_response(request, status, message, headers_of(error))


def _method_not_allowed(request: HttpRequest, allow: str) -> HttpResponse:
    return error_response(request, 405, f'Method "{request.method}" not allowed.', {"Allow": allow})


class HostMiddleware:
    """Refuses a `Host` that is none of ours before anybody asks for it: Django's own answer would be HTML."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            request.get_host()
        except DisallowedHost:
            return error_response(request, 400, "This host is not served here.")
        return self.get_response(request)


class ApiPathMiddleware:
    """Lets a JSON path end with a slash or not, without a redirect: routes are written without."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if path.endswith("/") and is_api_path(path):
            request.path_info = path.removesuffix("/")  # the one: an empty id is no id
        return self.get_response(request)


class PageMethodMiddleware:
    """Refuses what no page takes before the CSRF check does: 405 is the reason, not a missing token.

    Views without that check answer for themselves: those of the API, and the one for unknown paths.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> HttpResponse | None:
        if request.method in PAGE_METHODS or getattr(view, "csrf_exempt", False):
            return None
        return _method_not_allowed(request, ", ".join(PAGE_METHODS))


class ErrorMiddleware:
    """Answers what a page's view raises, in `DEBUG` too: nobody is shown a stack trace.

    Django's 405 has no body; it gets one here.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            return _method_not_allowed(request, response["Allow"])
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse:
        return answer_to(request, error)
