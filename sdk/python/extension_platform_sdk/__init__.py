"""What the author of an Extension Platform app needs, and nothing of the platform itself.

========================  ==========================================================
``verify``, ``sign``      the signature of webhook and hook calls (``signatures``)
``WebhookRouter``         from an HTTP request to the app's handler (``events``)
``AppClient``             the app API and the webhook endpoints (``client``)
========================  ==========================================================
"""

from .client import AppClient, Page
from .errors import ApiError, PlatformError, RateLimited, Unreachable
from .events import Response, WebhookEvent, WebhookRouter
from .seen import MemorySeen, SeenStore
from .signatures import InvalidSignature, sign, verify

__all__ = [
    "ApiError",
    "AppClient",
    "InvalidSignature",
    "MemorySeen",
    "Page",
    "PlatformError",
    "RateLimited",
    "Response",
    "SeenStore",
    "Unreachable",
    "WebhookEvent",
    "WebhookRouter",
    "sign",
    "verify",
]
