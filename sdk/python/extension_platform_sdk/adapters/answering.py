"""What the adapters share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from extension_platform_sdk.events import Headers, Response, WebhookRouter
from extension_platform_sdk.hooks import HookResponse, HookRouter

Router = WebhookRouter | HookRouter
Secret = str | Callable[[str], str | None]

BUSINESS_HEADER = "x-webhook-business-id"
JSON = "application/json"


class Answer(Protocol):
    @property
    def status(self) -> int: ...

    @property
    def body(self) -> bytes: ...


def answer(router: Router, headers: Headers, body: bytes, secret: Secret) -> Answer:
    """What the router answers to a request."""
    if isinstance(router, HookRouter):
        called: HookResponse = router.handle(headers, body, secret)
        return called
    delivered: Response = router.handle(headers, body, _of_webhook(headers, secret))
    return delivered


def _of_webhook(headers: Headers, secret: Secret) -> Secret:
    """The header only chooses the key: the signature is still checked with that."""
    if isinstance(secret, str):
        return secret
    values = {name.lower(): value for name, value in headers.items()}
    found = secret(values.get(BUSINESS_HEADER, ""))
    return lambda webhook_id: found
