"""The caller of the developer API (contract section 2): a person with the role DEVELOPER, by JWT or developer token."""

from collections.abc import Mapping

from django.conf import settings
from django.urls import reverse
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.enums import TokenRight
from accounts.models import DeveloperToken, User
from accounts.services.developer_tokens import usable_token
from accounts.sign_in.tokens import read_access_token
from common.errors import NotAllowed, Unauthenticated
from common.secrets import DEVELOPER_TOKEN_PREFIX
from common.web import bearer

ADVICE = "Send the access token of /auth/login or a developer token"
LACKS_RIGHT = (
    "This developer token doesn't have the right “{right}”. Create one with it at {page}, or use the access token of "
    "/auth/login."
)


class DeveloperAuthentication(BaseAuthentication):
    """`Authorization: Bearer`, with an access token of /auth/login or a developer token; anything else is a 401.

    `request.auth` becomes the `DeveloperToken`, or the text of the access token.
    """

    def authenticate(self, request: Request) -> tuple[User, DeveloperToken | str]:
        token = bearer.token_of(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise Unauthenticated(f"{ADVICE}: Authorization: Bearer <token>.", code="missing_token")
        if token.startswith("fbat_"):
            raise Unauthenticated(f"This is an app's access token. {ADVICE}.", code="wrong_kind_of_token")
        if token.startswith(DEVELOPER_TOKEN_PREFIX):
            found = usable_token(token)
            return found.user, found
        return read_access_token(token), token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class IsDeveloper(BasePermission):
    message = "Only developer accounts can use this API."
    code = "wrong_role"

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, User) and request.user.is_developer


class HasTokenRight(BasePermission):
    """Whether a developer token has the right that the view's `token_rights` name for the method, if they do.

    A person's own sign-in has every right.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        rights: Mapping[str, TokenRight] = getattr(view, "token_rights", {})
        right = rights.get(request.method or "")
        if right is None or not isinstance(request.auth, DeveloperToken) or right in request.auth.rights:
            return True
        raise NotAllowed(
            LACKS_RIGHT.format(right=right.value, page=settings.BASE_URL + reverse("accounts:tokens")),
            code="missing_token_right",
        )
