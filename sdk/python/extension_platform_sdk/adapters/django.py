"""For Django: ``path("webhooks", view(webhooks, SECRET))``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .answering import JSON, Router, Secret, answer


def view(router: Router, secret: Secret) -> Callable[[Any], Any]:
    """Make a view of a router. It needs no CSRF token: the signature says who calls. Anything but POST is answered 405."""
    http: Any = import_module("django.http")

    def receive(request: Any) -> Any:
        if request.method != "POST":
            return http.HttpResponseNotAllowed(["POST"])
        answered = answer(router, request.headers, request.body, secret)
        return http.HttpResponse(answered.body, status=answered.status, content_type=JSON)

    receive.csrf_exempt = True  # type: ignore[attr-defined]  # what django.views.decorators.csrf sets
    return receive
