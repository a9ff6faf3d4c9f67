"""Connects django-oauth-toolkit and oauthlib to installations (contract, section 3).

The libraries implement the protocol: the parameters of a request, the order of checks, the format of errors. Instead of
a token row, the installation keeps the token (docs/decisions/0002).
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, QueryDict
from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib import oauth2
from oauthlib.common import Request, urlencode
from oauthlib.oauth2.rfc6749 import errors
from oauthlib.oauth2.rfc6749.grant_types import AuthorizationCodeGrant
from oauthlib.oauth2.rfc6749.grant_types.authorization_code import code_challenge_method_s256

from accounts.access import may, role_in
from accounts.enums import StoreRole
from common.db.outages import LOCK_TIMEOUT, sqlstate_of
from common.errors import Conflict, NotFound
from common.http.url_policy import with_parameters
from installations.models import Grant
from installations.queries import installation_of_token
from installations.services import authorization, uninstall
from installations.services.lifecycle import Issued
from marketplace.models import App, AppVersion
from marketplace.scopes import in_order

# BASE64URL of a SHA-256 (RFC 7636 section 4.2).
S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


class CodeUsedAgain(Exception):
    """A code that was exchanged before. The view decides whether its token is revoked."""

    def __init__(self, grant: Grant, used_at: datetime) -> None:
        self.grant = grant
        self.used_at = used_at


class CodeInUse(OperationalError):
    """Another request has held the code's lock for longer than a request waits."""


class CodeGrant(AuthorizationCodeGrant):
    """The library itself would encode the query of a Redirect URL again."""

    def prepare_authorization_response(
        self, request: Request, token: dict[str, str], headers: dict[str, str], body: None, status: int
    ) -> tuple[dict[str, str], None, int]:
        return {"Location": answer_url(request.redirect_uri, token.items())}, body, status


class WrongRedirectUri(Exception):
    """An exchange whose `redirect_uri` isn't that of the authorization request. Empty: it named none."""

    def __init__(self, grant: Grant, redirect_uri: str) -> None:
        self.grant = grant
        self.redirect_uri = redirect_uri


class Server(oauth2.Server):
    """Authorization codes only. Checks the client before the request (contract, section 9, "Order of errors")."""

    def __init__(self, validator: "Validator", **kwargs: Any) -> None:
        super().__init__(validator, **kwargs)
        self.auth_grant = CodeGrant(validator)
        self.auth_grant.custom_validators.pre_auth.extend([check_response_type, check_challenge])
        self._grant_types = {"authorization_code": self.auth_grant}
        self._response_types = {"code": self.auth_grant}

    def validate_token_request(self, request: Request) -> None:
        self._raise_on_invalid_client(request)
        if request.duplicate_params:
            raise errors.InvalidRequestError("A parameter is given more than once.", request=request)
        if request.grant_type is None:
            raise errors.InvalidRequestError("Missing grant_type parameter.", request=request)
        if request.grant_type != "authorization_code":
            raise errors.UnsupportedGrantTypeError(request=request)

    def validate_revocation_request(self, request: Request) -> None:
        self._raise_on_invalid_client(request)
        super().validate_revocation_request(request)


def check_response_type(request: Request) -> dict[str, Any]:
    if request.response_type not in (None, "code"):
        raise errors.UnsupportedResponseTypeError(request=request)
    return {}


def check_challenge(request: Request) -> dict[str, Any]:
    """PKCE must be S256 if it is used. `plain`, the default of RFC 7636, is refused."""
    if request.code_challenge is None:
        return {}
    if request.code_challenge_method != "S256":
        raise errors.InvalidRequestError("code_challenge_method must be S256.", request=request)
    if not S256_CHALLENGE.fullmatch(request.code_challenge):
        raise errors.InvalidRequestError("code_challenge must be the S256 of a verifier.", request=request)
    return {}


class Validator(OAuth2Validator):
    """For token and revocation requests."""

    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        """Every app has a secret."""
        return True

    def authenticate_client(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        """By the header, or by the body if there is no header (RFC 6749 section 2.3: never by both)."""
        if getattr(request, "is_authenticated", False):
            return True
        by_header = "HTTP_AUTHORIZATION" in request.headers
        by = self._authenticate_basic_auth if by_header else self._authenticate_request_body
        request.is_authenticated = by(request)
        return request.is_authenticated

    def _extract_basic_auth(self, request: Request) -> str | None:
        scheme, _, credentials = request.headers["HTTP_AUTHORIZATION"].partition(" ")
        return credentials.strip() if scheme.lower() == "basic" and credentials.isascii() else None

    def _load_application(self, client_id: str | None, request: Request) -> App | None:
        """PostgreSQL refuses a NUL in any text, with an error that the library does not expect."""
        return None if "\0" in (client_id or "") else super()._load_application(client_id, request)

    def validate_code(
        self, client_id: str, code: str, client: App, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Locks the grant first, so that only one of several simultaneous requests finds it unused."""
        try:
            grant = authorization.locked_grant(code=code, app=client)
        except OperationalError as error:
            if sqlstate_of(error) == LOCK_TIMEOUT:
                raise CodeInUse from error
            raise
        if grant is None:
            return False
        if grant.used_at is not None:
            raise CodeUsedAgain(grant, grant.used_at)
        request.grant, request.user, request.scopes = grant, grant.user, grant.scope.split()
        return (
            not grant.is_expired()
            and not grant.withdrawn
            and may(role_in(grant.business, grant.user), StoreRole.MANAGER)
            and _verifies(request.code_verifier, grant.code_challenge)
            and _leads_back(request.redirect_uri, grant)
        )

    def validate_grant_type(self, *args: Any, **kwargs: Any) -> bool:
        """`Server` accepts only one grant type."""
        return True

    # `validate_code` has checked these on the locked row.

    def get_code_challenge(self, code: str, request: Request) -> None:
        return None

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> str:
        return str(request.grant.redirect_uri)

    def confirm_redirect_uri(self, *args: Any, **kwargs: Any) -> bool:
        return True

    def save_bearer_token(self, token: dict[str, Any], request: Request, *args: Any, **kwargs: Any) -> None:
        """Replaces oauthlib's random token by the installation's."""
        try:
            issued = authorization.exchange(grant=request.grant)
        except (Conflict, NotFound) as error:
            raise errors.InvalidGrantError(request=request) from error
        token.clear()
        token.update(token_record(issued))

    def invalidate_authorization_code(self, *args: Any, **kwargs: Any) -> None:
        """The exchange has marked it as used. It is kept to recognize a replay."""

    def revoke_token(
        self, token: str, token_type_hint: str | None, request: Request, *args: Any, **kwargs: Any
    ) -> None:
        """An app's own token uninstalls it. Any other token gets the same answer and changes nothing (RFC 7009)."""
        installation = installation_of_token(token=token, app=request.client)
        if installation is not None:
            with suppress(Conflict):  # uninstalled meanwhile
                uninstall(installation=installation)


class AuthorizationValidator(Validator):
    """For authorization requests. `offered` is what the signed-in person would install."""

    def __init__(self, app: App, offered: App | AppVersion) -> None:
        self.app = app
        self.offered = offered

    def validate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        return bool(client_id == self.app.client_id)

    def validate_redirect_uri(
        self, client_id: str, redirect_uri: str, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return redirect_uri == self.offered.redirect_url

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> str:
        return self.offered.redirect_url

    def validate_response_type(self, *args: Any, **kwargs: Any) -> bool:
        """`check_response_type` accepts only one."""
        return True

    def get_default_scopes(self, *args: Any, **kwargs: Any) -> list[str]:
        return list(self.offered.scopes)

    def validate_scopes(self, client_id: str, scopes: Iterable[str], *args: Any, **kwargs: Any) -> bool:
        return set(scopes) <= set(self.offered.scopes)

    def save_authorization_code(
        self, client_id: str, code: dict[str, str], request: Request, *args: Any, **kwargs: Any
    ) -> None:
        authorization.authorize(
            app=self.app,
            version=self.offered if isinstance(self.offered, AppVersion) else None,
            business=request.business,
            user=request.user,
            scopes=in_order(request.scopes),
            narrows=request.scope is not None,
            redirect_uri=request.redirect_uri,
            names_redirect_uri="redirect_uri" in dict(request.uri_query_params),
            code=code["code"],
            code_challenge=request.code_challenge or "",
        )


class Core(OAuthLibCore):
    """Reads only the body. A parameter without a value counts as missing (RFC 6749 sections 3.1 and 3.2)."""

    def _get_escaped_full_path(self, request: HttpRequest) -> str:
        return request.path

    def extract_headers(self, request: HttpRequest) -> dict[str, str]:
        return {name: request.META[name] for name in ("HTTP_AUTHORIZATION",) if name in request.META}

    def extract_body(self, request: HttpRequest) -> list[tuple[str, str]]:
        return given(request.POST)


class AuthorizationCore(Core):
    """Reads only the query string, for POST too: the consent form can't change the request."""

    def _get_escaped_full_path(self, request: HttpRequest) -> str:
        return f"{request.path}?{urlencode(given(request.GET))}"

    def extract_body(self, request: HttpRequest) -> list[tuple[str, str]]:
        return []


def authorization_core(app: App, offered: App | AppVersion) -> AuthorizationCore:
    return AuthorizationCore(Server(AuthorizationValidator(app, offered)))


def answer_url(redirect_uri: str, answer: Iterable[tuple[str, str]]) -> str:
    """Where a browser brings an answer to an app. `iss` tells an app of several platforms which of them answered
    (RFC 9207)."""
    return with_parameters(redirect_uri, [*answer, ("iss", settings.BASE_URL)])


def given(parameters: QueryDict) -> list[tuple[str, str]]:
    return [(name, value) for name, values in parameters.lists() for value in values if value]


def token_record(issued: Issued) -> dict[str, Any]:
    """The answer of the token endpoint, without refresh token and expiry: the token is valid until the uninstall."""
    installation = issued.installation
    return {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "scope": " ".join(installation.effective_scopes),
        "installationId": str(installation.id),
        "webhookSecret": issued.webhook_secret,
        "businessId": str(installation.business_id),
        "isTestInstall": installation.is_test,
    }


def _leads_back(redirect_uri: str | None, grant: Grant) -> bool:
    """It may be missing if the authorization request had none (RFC 6749 section 4.1.3). Raises `WrongRedirectUri`."""
    named = redirect_uri or ""
    if named == grant.redirect_uri or not (named or grant.names_redirect_uri):
        return True
    raise WrongRedirectUri(grant, named)


def _verifies(verifier: str | None, challenge: str) -> bool:
    """A verifier without a challenge, which is the S256 of none, is refused too: somebody may have removed the challenge from the
    request (RFC 9700 section 2.1.1)."""
    if verifier is None:
        return not challenge
    return bool(code_challenge_method_s256(verifier, challenge))
