"""What is counted for operators. `config.metrics` shows it; docs/operations.md says how to read it."""

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
    "Requests that were let through uncounted, since the cache server did not answer.",
    ["limit"],
)


def root_of(path: str) -> str:
    """The first part of a path, where it is one of few; the labels must not grow with what strangers ask for."""
    first = path[1:].partition("/")[0]
    return first if first in ROOTS else "other"


class AnswersMiddleware:
    """Stands first, so that it sees every answer as it goes out."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        ANSWERS.labels(root_of(request.path), f"{response.status_code // 100}xx").inc()
        return response
