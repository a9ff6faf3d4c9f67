"""`Server-Timing`, with `DEBUG` only, for the network panel of a browser: what an answer took, its statements, and its templates.

`total;dur=41.2, db;dur=8.1;desc="12 statements", render;dur=22.7`, in milliseconds. Statements of templates count as `db`.
"""

from collections.abc import Callable
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.template.backends.django import DjangoTemplates, Template


class Timing:
    """Of one request, in seconds of `clock`. `rendering` leaves out the statements of templates."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock, self._began = clock, clock()
        self.statements = 0
        self.asking = self.rendering = 0.0
        self._depth = 0  # of templates that render others

    @property
    def total(self) -> float:
        """Until now."""
        return self._clock() - self._began

    def asked(self, execute: Callable[..., Any], *args: Any) -> Any:
        began = self._clock()
        try:
            return execute(*args)
        finally:
            took = self._clock() - began
            self.statements += 1
            self.asking += took
            self.rendering -= took if self._depth else 0.0

    def rendered(self, render: Callable[[], Any]) -> Any:
        began = self._clock()
        self._depth += 1
        try:
            return render()
        finally:
            self._depth -= 1
            self.rendering += 0.0 if self._depth else self._clock() - began

    def header(self) -> str:
        total, asking, rendering = (
            f"{seconds * 1000:.1f}" for seconds in (self.total, self.asking, self.rendering)
        )
        return (
            f'total;dur={total}, db;dur={asking};desc="{self.statements} statements", render;dur={rendering}'
        )


_current: ContextVar[Timing | None] = ContextVar("server_timing", default=None)


class ServerTimingMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        timing = Timing()
        token = _current.set(timing)
        try:
            with connection.execute_wrapper(timing.asked):
                response = self._get_response(request)
        finally:
            _current.reset(token)
        response["Server-Timing"] = timing.header()
        return response


class _Timed(Template):
    def render(self, context: Any = None, request: HttpRequest | None = None) -> Any:
        timing = _current.get()
        if timing is None:
            return super().render(context, request)
        return timing.rendered(lambda: super(_Timed, self).render(context, request))


class TimedTemplates(DjangoTemplates):
    """Django's templates, measured."""

    def get_template(self, template_name: str) -> Template:
        return _Timed(super().get_template(template_name).template, self)

    def from_string(self, template_code: str) -> Template:
        return _Timed(super().from_string(template_code).template, self)
