"""Who calls the developer API (contract section 2): the JWT of a person with the role DEVELOPER."""

from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.models import User
from accounts.tokens import read_access_token
from common.errors import Unauthenticated


class DeveloperAuthentication(BaseAuthentication):
    """`Authorization: Bearer <access token of /auth/login>`; everything else is a 401 that says why."""

    def authenticate(self, request: Request) -> tuple[User, str]:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("Send the access token of /auth/login: Authorization: Bearer <token>.")
        if token.startswith("fbat_"):
            raise Unauthenticated(
                "This is an app's access token. The developer API takes the access token of /auth/login."
            )
        return read_access_token(token), token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class IsDeveloper(BasePermission):
    message = "Only the account of a developer may do this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, User) and request.user.is_developer
