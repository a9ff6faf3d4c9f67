"""A request id for every answer (contract, section 0, "request id")."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from common import tracing


class RequestIdMiddleware:
    """Comes first, so that everything that a request causes, its log lines and its answer have the same id.

    An `X-Request-Id` of the caller is ignored: support must be able to rely on ids being unique.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with tracing.of_request(request.headers.get("traceparent")) as trace:
            response = self.get_response(request)
        response.headers[tracing.REQUEST_ID_HEADER] = str(trace.request_id)
        return response
