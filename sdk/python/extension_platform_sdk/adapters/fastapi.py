"""For FastAPI: ``app.post("/webhooks")(view(webhooks, SECRET))``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from .answering import JSON, Router, Secret, answer


def view(router: Router, secret: Secret) -> Callable[[Any], Awaitable[Any]]:
    """Make an endpoint of a router. Handlers run in a thread, so that they may block."""
    fastapi: Any = import_module("fastapi")

    async def receive(request: Any) -> Any:
        body = await request.body()
        answered = await asyncio.to_thread(answer, router, request.headers, body, secret)
        return fastapi.Response(answered.body, answered.status, media_type=JSON)

    # FastAPI reads the types of an endpoint, and they are not known before it is imported.
    receive.__annotations__ = {"request": fastapi.Request, "return": fastapi.Response}
    return receive
