"""Counters for operators. `config.metrics` serves them, and docs/operations.md explains them."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter

ROOTS: Final = frozenset(
    "app-api webhooks developer auth oauth .well-known portal merchant store admin accounts".split()
)

ANSWERS: Final = Counter(
    "extension_platform_http_answers",
    "Answers to HTTP requests, by the first part of the path and the class of the status.",
    ["root", "status"],
)
NOT_LIMITED: Final = Counter(
    "extension_platform_rate_limit_failed_open",
    "Requests that were not counted for all processes together, because the cache server did not respond.",
    ["limit"],
)
CALLS_NOT_LOGGED: Final = Counter(
    "extension_platform_api_calls_not_logged",
    "Calls of apps that the log lacks, because the database did not keep up.",
)


def root_of(path: str) -> str:
    """The first part of a known path, else "other", so that strangers can't add labels."""
    first = path[1:].partition("/")[0]
    return first if first in ROOTS else "other"


class AnswersMiddleware:
    """Counts every response. It is the outermost middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        root = "store" if request.zone == "stores" else root_of(request.path)  # type: ignore[attr-defined]
        ANSWERS.labels(root, f"{response.status_code // 100}xx").inc()
        return response
