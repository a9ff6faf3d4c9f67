"""What the author of an Extension Platform app needs, and nothing of the platform itself.

========================= ===========================================================
``verify``, ``sign``      the signature of webhook and hook calls (``signatures``)
``WebhookRouter``         from a delivery to the app's handler (``events``)
``HookRouter``            from a hook call to the app's answer (``hooks``)
``read_session_token``    who is looking at an admin page (``sessions``)
``read_storefront_token`` which store a block or widget is in (``sessions``)
``OAuthClient``           installing on a store, from the consent to the token (``oauth``)
``AppClient``             the app API and the webhook endpoints (``client``)
``to_minor``              money of the app API as hook calls count it, and back with ``to_major`` (``money``)
========================= ===========================================================
"""

from .client import AppClient, Page, Reconciled
from .envelope import HookCall, Shopper, WebhookEvent
from .errors import ApiError, OAuthError, PlatformError, RateLimited, StateMismatch, Unreachable
from .events import Response, WebhookRouter
from .hooks import HookResponse, HookRouter
from .money import to_major, to_minor
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
from .sessions import (
    InvalidSession,
    Session,
    StorefrontSession,
    read_session_token,
    read_storefront_token,
)
from .signatures import InvalidSignature, sign, verify

__version__ = "1.0.0.dev0"

__all__ = [
    "ApiError",
    "AppClient",
    "Authorization",
    "HookCall",
    "HookResponse",
    "HookRouter",
    "Installation",
    "InvalidSession",
    "InvalidSignature",
    "MemorySeen",
    "Metadata",
    "OAuthClient",
    "OAuthError",
    "Page",
    "PlatformError",
    "RateLimited",
    "Reconciled",
    "Response",
    "SeenStore",
    "Session",
    "Shopper",
    "StateMismatch",
    "StorefrontSession",
    "Unreachable",
    "WebhookEvent",
    "WebhookRouter",
    "code_challenge",
    "read_callback",
    "read_session_token",
    "read_storefront_token",
    "sign",
    "states_match",
    "to_major",
    "to_minor",
    "verify",
]
