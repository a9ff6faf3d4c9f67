"""Routes of JSON outside the API paths."""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, path


def json_path(route: str, view: Callable[..., HttpResponseBase], name: str | None = None) -> list[URLPattern]:
    """The route with and without a trailing slash; `reverse` gives it without. On API paths `ApiMiddleware` removes the slash."""
    return [path(f"{route}/", view, name=name), path(route, view, name=name)]  # `reverse` takes the last
