"""Error responses: JSON for API paths and programs, a page for browsers (contract, section 0)."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.errors import ERROR_CODE_HEADER, ServiceError, default_code, error_body, status_name
from common.rest.errors import code_of, headers_of, status_and_message
from common.web.forms.kept import shown_again
from common.web.methods import PAGE_METHODS

log = logging.getLogger(__name__)

API_ROOTS: Final = (
    "/app-api", "/webhooks", "/store-api", "/placements", "/developer", "/auth", "/oauth/token", "/oauth/revoke", "/.well-known",
)  # fmt: skip

# On pages. Programs get the names of RFC 9110 in every language.
NAMES: Final = {
    400: gettext_lazy("Bad request"),
    403: gettext_lazy("Forbidden"),
    404: gettext_lazy("Not found"),
    405: gettext_lazy("Method not allowed"),
    409: gettext_lazy("Conflict"),
    413: gettext_lazy("Content too large"),
    415: gettext_lazy("Unsupported media type"),
    422: gettext_lazy("Unprocessable content"),
    429: gettext_lazy("Too many requests"),
    500: gettext_lazy("Internal server error"),
    503: gettext_lazy("Service unavailable"),
}
FRAMED: Final = (403, 404)


def is_api_path(path: str) -> bool:
    """Whether responses of this path are always JSON."""
    return path.startswith(API_ROOTS) and any(
        path == root or path.startswith(root + "/") for root in API_ROOTS
    )


def error_response(
    request: HttpRequest,
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    *,
    code: str = "",
) -> HttpResponse:
    """JSON in the error shape, or an error page for a browser outside the API paths."""
    wants_page = request.get_preferred_type(["application/json", "text/html"]) == "text/html"
    if is_api_path(request.path_info) or not wants_page:
        named = {ERROR_CODE_HEADER: code or default_code(status)}
        response: HttpResponse = JsonResponse(error_body(status, message), status=status, headers=named)
    else:
        name = NAMES.get(status) or status_name(status).capitalize()
        response = _page(request, {"status": status, "name": name, "message": message})
    for name, value in (headers or {}).items():
        response[name] = value
    return response


def _page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Within the frame, with the person's account, where a page of the platform is missing or refused."""
    status = context["status"]
    if status in FRAMED and getattr(request, "zone", "") == "platform" and hasattr(request, "user"):
        try:
            return render(request, "refused.html", context, status=status)
        except DatabaseError:
            log.debug("The person can't be read, so %s gets the plain page", request.path)
    return render(request, "error.html", context, status=status)


def answer_to(request: HttpRequest, error: Exception) -> HttpResponse:
    """The response to an exception. Logs those with a 5xx status that no code of ours meant."""
    status, message = status_and_message(error)
    if status >= 500 and not isinstance(error, ServiceError):
        log.error(
            "%s while answering %s %s", type(error).__name__, request.method, request.path, exc_info=error
        )
    return error_response(request, status, message, headers_of(error), code=code_of(error))


def method_not_allowed(request: HttpRequest, allow: str) -> HttpResponse:
    return error_response(request, 405, _('Method "%s" not allowed.') % request.method, {"Allow": allow})


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """For `CSRF_FAILURE_VIEW`. Usually the page was open while the person signed in or out in another tab: the form is shown again.

    A method that no page has is a 405, with or without a token.
    """
    if request.method not in PAGE_METHODS:
        return method_not_allowed(request, ", ".join(PAGE_METHODS))
    if (page := shown_again(request)) is not None:
        return page
    message = (
        "This form has expired, and nothing was saved. Go back, copy what you typed, and open the page again."
    )
    return error_response(request, 403, message, code="form_expired")
