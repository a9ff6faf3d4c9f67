"""Logs the calls of apps. An installation has one rate limit for `/app-api` and `/webhooks`."""

import re
from collections.abc import Callable
from time import perf_counter
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from activity import log
from activity.calls import RecordedCall
from common import tracing
from common.errors import ERROR_CODE_HEADER
from common.rest.bodies import RAW_BODY
from common.rest.deprecation import documented_path
from common.rest.rates import ApiRate
from common.secrets import digest, last_four
from common.web import requests
from installations.limits import REQUESTS_A_MINUTE

KEPT_OF_ERROR: Final = 64 * 1024  # bytes: the whole error, from which the log takes message and details
KEPT_OF_BODY: Final = 8 * 1024  # bytes: twice what the log keeps, since it masks secrets before it cuts

_CALL: Final = "appapi.call"  # in the request's environ, where a client's headers can't reach
_TOKEN: Final = re.compile(r"fbat_[\w-]{20,100}", re.ASCII)

RATE: Final = ApiRate("app-api", ("/app-api", "/webhooks"), lambda: REQUESTS_A_MINUTE)


class CallLogMiddleware:
    """Leaves each call of an app to the writer of the log, which makes the row of it (docs/decisions/0037).

    It adds neither a statement nor a round trip. It is the outermost middleware of the APIs, so that it sees what was answered.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not (settings.LOG_API_CALLS and RATE.covers(request.path_info)):
            return self.get_response(request)
        began = perf_counter()
        call = request.META[_CALL] = RecordedCall(timezone.now())
        response = self.get_response(request)
        if call.installation is not None or _has_known_form(request, call):
            _complete(call, request, response)
            call.duration = perf_counter() - began
            log.record(call)
        return response


def call_of(request: HttpRequest) -> RecordedCall:
    """The call as the view completes it. If the log is off, one that is thrown away."""
    return request.META.get(_CALL) or RecordedCall(timezone.now())


def _has_known_form(request: HttpRequest, call: RecordedCall) -> bool:
    """Whether a call without a valid token has one that may have ended."""
    token = requests.token_of(request.META.get("HTTP_AUTHORIZATION", ""))
    has_form = _TOKEN.fullmatch(token) is not None
    if has_form:
        call.token_digest = digest(token)
    return has_form


def _complete(call: RecordedCall, request: HttpRequest, response: HttpResponse) -> None:
    trace = tracing.current_or_new()
    state = RATE.state_of(request)
    call.request_id = trace.request_id
    call.trace_id = trace.trace_id if trace.trace_id != trace.request_id else None
    call.token_last_four = last_four(request.META.get("HTTP_AUTHORIZATION", ""))
    call.method = request.method or ""
    call.path = request.get_full_path()
    match = request.resolver_match
    call.route = documented_path(match.route) if match else ""
    call.status = response.status_code
    call.is_deprecated = "Deprecation" in response
    call.rate = state.limit, state.remaining, state.reset
    call.idempotency_key = request.META.get("HTTP_IDEMPOTENCY_KEY", "")
    if response.status_code >= 400:
        call.error_code = response.get(ERROR_CODE_HEADER, "")
        call.response_body = response.content[:KEPT_OF_ERROR]
    if call.installation is None or call.installation.is_test:
        call.request_body = request.META.get(RAW_BODY, b"")[:KEPT_OF_BODY]
        if not (call.response_body or response.streaming):
            call.response_body = response.content[:KEPT_OF_BODY]
