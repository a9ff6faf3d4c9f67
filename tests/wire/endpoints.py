"""Every JSON endpoint there is, read from the URL conf: what is added later is tested without being named here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.views import APIView

ROOTS = ("app-api", "webhooks", "developer", "auth")
METHODS = ("get", "post", "put", "patch", "delete")

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method of a route: `PATCH app-api/orders/<str:order_id>/status`."""

    method: str
    route: str

    def __str__(self) -> str:
        return f"{self.method} {self.route}"

    @property
    def root(self) -> str:
        return self.route.partition("/")[0]

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.route)

    def path(self, values: dict[str, str]) -> str:
        """The address with these parameters; one that is not given is an id of nothing."""
        return "/" + _PARAMETER.sub(lambda found: values.get(found[1], "nothing"), self.route)


def endpoints() -> list[Endpoint]:
    return [
        Endpoint(method.upper(), route)
        for route, view in _views(get_resolver().url_patterns)
        for method in METHODS
        if hasattr(view, method)
    ]


def _views(patterns: Any, prefix: str = "") -> Iterator[tuple[str, type[APIView]]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _views(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and route.partition("/")[0] in ROOTS:
            view = getattr(pattern.callback, "cls", None)
            if view is not None:
                yield route, view


ENDPOINTS = endpoints()
WITH_BODY = [each for each in ENDPOINTS if each.method in ("POST", "PUT", "PATCH")]
LISTS = [each for each in ENDPOINTS if each.method == "GET"]
