"""Authentication of the app API: the access token of an installation, and what it may do."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import CharField, Q
from django.urls import reverse
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from common.db.compiled import Compiled, Param
from common.errors import Coded
from common.secrets import digest
from common.web import requests
from installations.models import Installation

USE_RECORDED_EVERY = timedelta(minutes=1)
PAUSED = Coded("The store has paused this app", code="app_paused")

# The columns that a request reads. The webhook secret is left out, because reading it means decrypting it.
READ = (
    "app_id", "business_id", "installed_by_id", "is_test", "is_review", "is_own", "granted_scopes", "narrowed_scopes",
    "needs_reconsent", "installed_at", "last_used_at", "paused_at", "uninstalled_at",
    "app__name", "app__slug", "app__scopes", "app__webhook_url", "app__webhook_events", "app__webhook_filter",
    "app__suspended_at", "app__deleted_at", "app__approved_version_id",
    "app__approved_version__name", "app__approved_version__scopes", "app__approved_version__webhook_url",
    "app__live_saves", "app__taken_back_at", "app__rolling_version_id", "runs_id", "runs__scopes", "runs__webhook_url",
    "business__owner_id", "business__name", "business__slug", "business__currency", "business__locale",
    "business__timezone", "business__is_sandbox", "business__is_connected", "business__copy_of",
    "business__expires_at",
)  # fmt: skip

# The installation of a token, if it may call.
_HOLDER = Compiled(
    lambda: (
        Installation.objects.usable()
        .with_app()
        .only(*READ)
        .filter(token_digest=Param("token_digest", CharField()))
    ),
    prepared_as="installations_holder",
)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer fbat_…`; `request.auth` becomes the `Installation`.

    One query by the unique digest also reads the app, its approved version and the business. Only the header is
    read. There is no `request.user`, because an app calls and not a person.
    """

    def authenticate(self, request: Request) -> tuple[None, Installation]:
        holder = request.META.get(_HOLDER_KEY)
        if isinstance(holder, _Holder):
            installation = _installation_with(holder.token_digest)
        else:
            installation = installation_of(bearer_token(request))
        record_use(installation, timezone.now())
        return None, installation

    def authenticate_header(self, request: Request) -> str:
        """With the address of the metadata that leads to the authorization server (RFC 9728, section 5.1)."""
        return f'Bearer resource_metadata="{settings.BASE_URL}{reverse("oauth:protected_resource")}"'


def bearer_token(request: Request) -> str:
    """The token in the Authorization header. Raises `AuthenticationFailed` if there is none."""
    header = request.META.get("HTTP_AUTHORIZATION", "").strip()
    if not header:
        raise AuthenticationFailed(
            "Send the access token in the header: Authorization: Bearer <token>.", code="missing_token"
        )
    token = requests.token_of(header)
    if not token or " " in token:
        raise AuthenticationFailed(
            "The Authorization header must read: Bearer <token>.", code="malformed_authorization"
        )
    return token


def installation_of(token: str) -> Installation:
    """The active installation of a token. Raises `AuthenticationFailed` for an unknown or revoked one."""
    return _installation_with(digest(token))


@dataclass(frozen=True, slots=True)
class _Holder:
    token_digest: str


_HOLDER_KEY = "installations.holder"  # in the environ of a request, where a client's headers can't reach


def act_as_holder(environ: dict[str, Any], installation: Installation) -> None:
    """Let a request that this process makes itself count as one with the installation's current token.

    The caller has to make sure that a person may act for the installation. A revoked token stays refused.
    """
    environ[_HOLDER_KEY] = _Holder(installation.token_digest or "")


def _installation_with(token_digest: str) -> Installation:
    found = _HOLDER.first(token_digest=token_digest)
    if found is None:
        raise AuthenticationFailed("The access token is unknown or has been revoked.", code="token_revoked")
    return found


def record_use(installation: Installation, now: datetime) -> None:
    """Record when a token was last used, to the minute, so that most calls write nothing."""
    stale = now - USE_RECORDED_EVERY
    if installation.last_used_at is not None and installation.last_used_at > stale:
        return
    unrecorded = Q(last_used_at=None) | Q(last_used_at__lte=stale)
    Installation.objects.filter(unrecorded, pk=installation.pk).update(last_used_at=now)


class RequiresScope(BasePermission):
    """Refuses every call of a paused app, and a call whose scope the token lacks, naming that scope.

    A view names the scope that it needs in `required_scope`: a scope name, None, or one of these per method.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        scope = scope_needed(request.method or "GET", view)
        installation = cast(Installation, request.auth)
        if installation.paused_at is not None:
            raise PermissionDenied(PAUSED)
        if scope is None or scope in installation.effective_scopes:
            return True
        raise PermissionDenied(refusal(installation, scope))


def scope_needed(method: str, view: APIView) -> str | None:
    """The scope that a method of a view needs. Raises `ImproperlyConfigured` if the view doesn't say."""
    declared: str | Mapping[str, str | None] | None = view.required_scope  # type: ignore[attr-defined]
    if not isinstance(declared, Mapping):
        return declared
    method = "GET" if method == "HEAD" else method
    if method not in declared and method != "OPTIONS" and method in view.allowed_methods:
        raise ImproperlyConfigured(f"{type(view).__name__}.required_scope does not name {method}.")
    return declared.get(method)


def refusal(installation: Installation, scope: str) -> Coded:
    """Says that a token lacks a scope, and that the store hasn't agreed to it if that is the reason."""
    message = f"This call needs the scope {scope}, which the token does not have."
    if scope in installation.offered_scopes and not installation.follows_working_copy:
        message = f"{message} {installation.business.name} has not agreed to it yet."
        return Coded(message, code="scope_not_agreed")
    return Coded(message, code="missing_scope")
