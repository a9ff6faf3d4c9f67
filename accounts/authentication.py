"""Who calls the developer API (contract section 2): a person with the role DEVELOPER, by JWT or developer token."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import User
from accounts.services.developer_tokens import owner_of
from accounts.tokens import read_access_token
from common.errors import Unauthenticated
from common.secrets import DEVELOPER_TOKEN_PREFIX
from common.web import bearer

ADVICE = "Send the access token of /auth/login or a developer token"


class DeveloperAuthentication(BaseAuthentication):
    """`Authorization: Bearer`, with an access token of /auth/login or a developer token; anything else is a 401."""

    def authenticate(self, request: Request) -> tuple[User, str]:
        token = bearer.token_of(request.META.get("HTTP_AUTHORIZATION", ""))
        if not token:
            raise Unauthenticated(f"{ADVICE}: Authorization: Bearer <token>.")
        if token.startswith("fbat_"):
            raise Unauthenticated(f"This is an app's access token. {ADVICE}.")
        if token.startswith(DEVELOPER_TOKEN_PREFIX):
            return owner_of(token), token
        return read_access_token(token), token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class IsDeveloper(BasePermission):
    message = "Only developer accounts can use this API."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, User) and request.user.is_developer
