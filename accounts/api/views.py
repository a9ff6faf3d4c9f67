"""`/auth`: a developer's way to a JWT (contract section 1)."""

from typing import Any

from django.contrib.auth import authenticate
from django.contrib.auth.models import update_last_login
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts import limits, tokens
from accounts.api.serializers import LoginBody, RefreshTokenBody, RegisterBody
from accounts.forms import WRONG_CREDENTIALS
from accounts.models import Business, User
from accounts.services import register
from accounts.tokens import TokenPair
from common.errors import Unauthenticated
from common.rest.views import JsonView

NO_STORE = {"Cache-Control": "no-store"}


class RegisterView(JsonView):
    def post(self, request: Request) -> Response:
        limits.registration(request)
        made = register(**_validated(RegisterBody, request))
        update_last_login(User, made.user)
        return Response(_signed_in(made.user, made.business), status=201, headers=NO_STORE)


class LoginView(JsonView):
    """An unknown account, a wrong password and a closed account: one answer, after equal work."""

    def post(self, request: Request) -> Response:
        limits.sign_in_from_address(request)
        body = _validated(LoginBody, request)
        limits.sign_in_to_account(request, body["email"])
        user = authenticate(request, username=body["email"], password=body["password"])
        if not isinstance(user, User):
            raise Unauthenticated(WRONG_CREDENTIALS)
        update_last_login(User, user)
        return Response(_signed_in(user, Business.objects.main_of(user)), headers=NO_STORE)


class RefreshView(JsonView):
    def post(self, request: Request) -> Response:
        body = _validated(RefreshTokenBody, request)
        return Response(_pair_record(tokens.rotate(body["refreshToken"])), headers=NO_STORE)


class LogoutView(JsonView):
    def post(self, request: Request) -> Response:
        tokens.revoke(_validated(RefreshTokenBody, request)["refreshToken"])
        return Response(status=204)


def _validated(body: type[Serializer], request: Request) -> dict[str, Any]:
    serializer = body(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def _signed_in(user: User, business: Business | None) -> dict[str, Any]:
    person = {"id": user.id, "email": user.email, "name": user.name, "role": user.role}
    return {
        "user": person,
        **_pair_record(tokens.issue(user)),
        "businessId": business and business.id,
    }


def _pair_record(pair: TokenPair) -> dict[str, Any]:
    return {
        "accessToken": pair.access,
        "refreshToken": pair.refresh,
        "tokenType": "Bearer",
        "expiresIn": pair.expires_in,
    }
