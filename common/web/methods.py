"""The methods of pages and files that are only read."""

from collections.abc import Callable
from typing import TypeVar

from django.http import HttpResponseBase
from django.views.decorators import csrf, http

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def require_safe(view: View) -> View:
    """Django's decorator, without the CSRF check: a POST is a 405, and not a 403 for its missing token."""
    return csrf.csrf_exempt(http.require_safe(view))
