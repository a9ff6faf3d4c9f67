"""The methods of a view."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from django.http import HttpResponseBase
from django.views.decorators import csrf, http

View = TypeVar("View", bound=Callable[..., HttpResponseBase])

PAGE_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST")
GET_OR_POST: Final = ("GET", "HEAD", "POST")  # of a page with a form, for `require_http_methods`


def require_safe(view: View) -> View:
    """Django's decorator, without the CSRF check: a POST is a 405, and not a 403 for its missing token."""
    return csrf.csrf_exempt(http.require_safe(view))


def at_no_page(view: View) -> View:
    """For the view that answers unknown paths, where no method is the right one."""
    view.methods = []  # type: ignore[attr-defined]
    return view


def methods_of(view: Callable[..., Any]) -> list[str]:
    """The methods that a view answers: what its decorators let through, or what its class has, and OPTIONS."""
    if hasattr(view, "methods"):
        return list(view.methods)
    view_class = getattr(view, "cls", getattr(view, "view_class", None))
    found: list[str] = next(filter(None, map(_let_through, _layers(view))), [])
    found = found or (_methods_of_class(view_class) if view_class else list(PAGE_METHODS))
    return found if "OPTIONS" in found else [*found, "OPTIONS"]


def _methods_of_class(view_class: Any) -> list[str]:
    def has(name: str) -> bool:
        return hasattr(view_class, name) or (name == "head" and hasattr(view_class, "get"))

    return [name.upper() for name in view_class.http_method_names if has(name)]


def _layers(view: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """The view and what its decorators wrap, from the outside."""
    layer: Any = view
    while layer is not None:
        yield layer
        layer = getattr(layer, "__wrapped__", None)


def _let_through(layer: Any) -> list[str]:
    """What `require_http_methods` was called with, if this layer is of it. Django keeps it in the closure only."""
    code = getattr(layer, "__code__", None)
    if code is None or "request_method_list" not in code.co_freevars:
        return []
    return list(layer.__closure__[code.co_freevars.index("request_method_list")].cell_contents)
