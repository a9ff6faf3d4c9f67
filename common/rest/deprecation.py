"""Announcing that an operation will go, in its answers, in its documentation and to the developers who still use it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.http import http_date

LASTS: Final = timedelta(days=365)  # at least, from the announcement to the end (contract, section 18)
_PARAMETER: Final = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Declared beside a view, by method: `deprecations = {"GET": Deprecation(...)}`.

    `since` and `end` are moments in UTC, at least `LASTS` apart, else a `ValueError`. `instead` is a sentence that names what to use.
    """

    since: datetime
    end: datetime
    instead: str

    def __post_init__(self) -> None:
        if self.end - self.since < LASTS:
            raise ValueError(f"A deprecated operation works for {LASTS.days} days at least.")

    @property
    def headers(self) -> dict[str, str]:
        """`Deprecation` is a structured date (RFC 9745), `Sunset` an HTTP date (RFC 8594)."""
        return {"Deprecation": f"@{self.since.timestamp():.0f}", "Sunset": http_date(self.end.timestamp())}

    @property
    def end_day(self) -> str:
        return _day(self.end)

    def __str__(self) -> str:
        return f"Deprecated since {_day(self.since)}, and gone after {self.end_day}. {self.instead}"


@lru_cache(maxsize=200)
def documented_path(route: str) -> str:
    """The path of a route as the documentation writes it; empty for unknown paths."""
    return "" if route.startswith("^") else "/" + _PARAMETER.sub(r"{\1}", route)


def deprecated_operations() -> dict[str, Deprecation]:
    """By method and documented path: `GET /app-api/products/{product_id}`."""
    return {
        f"{method} {documented_path(route)}": deprecation
        for route, view in _views_of(settings.ROOT_URLCONF)
        for method, deprecation in view.deprecations.items()
    }


@lru_cache(maxsize=2)
def _views_of(routes: str) -> list[tuple[str, Any]]:
    """Those that can have deprecations, with their routes."""
    found = _views(get_resolver(routes).url_patterns)
    return [(route, view) for route, view in found if hasattr(view, "deprecations")]


def _views(patterns: Sequence[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, Any]]:
    """Each class of a view, with its route."""
    for each in patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _views(each.url_patterns, route)
        else:
            yield route, getattr(each.callback, "view_class", None)


def _day(moment: datetime) -> str:
    day = moment.astimezone(UTC)
    return f"{day.day} {day:%B %Y}"


# For the OpenAPI document.
HEADERS = {
    "Deprecation": {
        "description": "Since when the operation is deprecated: `@` and Unix seconds (RFC 9745).",
        "schema": {"type": "string", "pattern": "^@[0-9]+$", "examples": ["@1796083200"]},
    },
    "Sunset": {
        "description": "When it stops working, as an HTTP date (RFC 8594).",
        "schema": {"type": "string", "examples": ["Wed, 01 Dec 2027 00:00:00 GMT"]},
    },
}
