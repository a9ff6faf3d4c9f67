"""For Flask: ``app.post("/webhooks")(view(webhooks, SECRET))``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import count
from typing import Any

from .answering import JSON, Router, Secret, answer

_numbers = count(1)


def view(router: Router, secret: Secret) -> Callable[[], Any]:
    """Make a view of a router. Its name is unique, as Flask's endpoints must be."""
    flask: Any = import_module("flask")

    def receive() -> Any:
        answered = answer(router, flask.request.headers, flask.request.get_data(), secret)
        return flask.Response(answered.body, answered.status, content_type=JSON)

    receive.__name__ = f"extension_platform_{next(_numbers)}"
    return receive
