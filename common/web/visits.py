"""The web requests that this process answers, each on its thread."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse


class Visit:
    """A web request in progress. It ends once its answer was made; one with a place, whose answer is made while it is sent, after that."""

    __slots__ = ("at_end", "request", "view", "waited", "was_refused")

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.view: object = None
        self.waited = 0.0  # seconds for servers of others, without a place
        self.was_refused = False
        self.at_end: list[Callable[[], None]] = []

    def end(self) -> None:
        in_progress.discard(self)
        while self.at_end:
            self.at_end.pop()()


in_progress: Final[set[Visit]] = set()
_here: Final = threading.local()


def current() -> Visit | None:
    """The request that this thread answers. None on threads that answer none, such as a worker's."""
    return getattr(_here, "visit", None)


class VisitsMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        outer, visit = current(), Visit(request)
        in_progress.add(visit)
        _here.visit = visit
        response: Any = None
        try:
            response = self.get_response(request)
        finally:
            _here.visit = outer
            if visit.at_end and getattr(response, "streaming", False):
                response._resource_closers.append(visit.end)  # noqa: SLF001  the only way to learn when it ends
            else:
                visit.end()
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        visit = current()
        if visit is not None:
            visit.view = view
