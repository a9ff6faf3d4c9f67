"""What the author of an Extension Platform app needs, and nothing of the platform itself.

========================  ==========================================================
``verify``, ``sign``      the signature of webhook and hook calls (``signatures``)
``WebhookRouter``         from an HTTP request to the app's handler (``events``)
``OAuthClient``           installing on a store, from the consent to the token (``oauth``)
``AppClient``             the app API and the webhook endpoints (``client``)
========================  ==========================================================
"""

from .client import AppClient, Page
from .errors import ApiError, OAuthError, PlatformError, RateLimited, StateMismatch, Unreachable
from .events import Response, WebhookEvent, WebhookRouter
from .oauth import (
    Authorization,
    Installation,
    Metadata,
    OAuthClient,
    code_challenge,
    read_callback,
    states_match,
)
from .seen import MemorySeen, SeenStore
from .signatures import InvalidSignature, sign, verify

__all__ = [
    "ApiError",
    "AppClient",
    "Authorization",
    "Installation",
    "InvalidSignature",
    "MemorySeen",
    "Metadata",
    "OAuthClient",
    "OAuthError",
    "Page",
    "PlatformError",
    "RateLimited",
    "Response",
    "SeenStore",
    "StateMismatch",
    "Unreachable",
    "WebhookEvent",
    "WebhookRouter",
    "code_challenge",
    "read_callback",
    "sign",
    "states_match",
    "verify",
]
