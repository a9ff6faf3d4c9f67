"""`/auth`: a developer's way to a JWT (contract section 1)."""

from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import update_last_login
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.api import serializers
from accounts.models import Business, User
from accounts.services import register
from accounts.services.invitations import check_email
from accounts.services.second_factor import has_second_factor, use_code
from accounts.sign_in import limits, tokens
from accounts.sign_in.adapter import WRONG_CREDENTIALS
from accounts.sign_in.origins import origin_of
from accounts.sign_in.tokens import TokenPair
from common.errors import NotAllowed, Unauthenticated
from common.rest.schema import problem
from common.rest.views import JsonView

NO_STORE = {"Cache-Control": "no-store"}
WRONG_OTP = "This account has a second factor. Send a current code as otp: each works once."
SPENT = problem("The refresh token is unknown, used or expired.")
NO_PASSWORDS = problem(
    "People sign in by an identity provider here, on the site's pages, and have no passwords."
)
PASSWORDS_OFF = (
    "There are no passwords here. Sign in at {page}, and use a developer token in place of this call."
)


class AccountView(JsonView):
    tag = "Accounts"


class RegisterApiView(AccountView):
    @extend_schema(
        "register",
        request=serializers.RegisterBody,
        responses={
            201: OpenApiResponse(
                serializers.SignedInSerializer, "The account, signed in, with its sandbox or business."
            ),
            403: NO_PASSWORDS,
            409: problem("There is an account with this address."),
            429: problem("More than 60 a minute from one address."),
        },
    )
    def post(self, request: Request) -> Response:
        """Register."""
        _require_passwords()
        limits.registration(request)
        made = register(**_validated(serializers.RegisterBody, request))
        update_last_login(User, made.user)
        return Response(_signed_in(request, made.user, made.business), status=201, headers=NO_STORE)


class LoginView(AccountView):
    """An unknown account, a wrong password and a closed account: one answer, after equal work."""

    @extend_schema(
        "login",
        request=serializers.LoginBody,
        responses={
            200: serializers.SignedInSerializer,
            401: problem(
                "Unknown account, wrong password, or `details` with the field `otp` and the message `mfa_required`: the "
                "account has a second factor, and `otp` is missing or wrong."
            ),
            403: NO_PASSWORDS,
            429: problem(
                "More than 10 failures a minute for one account and network, or 60 from one address. Or 20 wrong codes "
                "for the account within 24 hours: then `otp` takes a recovery code only."
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Sign in."""
        _require_passwords()
        limits.sign_in_from_address(request)
        body = _validated(serializers.LoginBody, request)
        limits.sign_in_to_account(request, body["email"])
        user = authenticate(request, username=body["email"], password=body["password"])
        if not isinstance(user, User):
            check_email(body["email"])  # only now: an address of before there was its rule still signs in
            raise Unauthenticated(WRONG_CREDENTIALS, code="wrong_credentials")
        if has_second_factor(user):
            _require_code(request, user, body.get("otp", ""))
        limits.signed_in(request, body["email"])
        update_last_login(User, user)
        return Response(_signed_in(request, user, Business.objects.main_of(user)), headers=NO_STORE)


class RefreshView(AccountView):
    @extend_schema(
        "refresh",
        request=serializers.RefreshTokenBody,
        responses={200: serializers.TokenPairSerializer, 401: SPENT},
    )
    def post(self, request: Request) -> Response:
        """Get a new pair of tokens.

        The refresh token that you send stops working. Sending it a second time ends the sign-in with all its tokens.
        """
        body = _validated(serializers.RefreshTokenBody, request)
        return Response(_pair_record(tokens.rotate(body["refreshToken"])), headers=NO_STORE)


class LogoutView(AccountView):
    @extend_schema("logout", request=serializers.RefreshTokenBody, responses={204: None, 401: SPENT})
    def post(self, request: Request) -> Response:
        """Sign out.

        Ends the refresh token and the access tokens of this sign-in.
        """
        tokens.revoke(_validated(serializers.RefreshTokenBody, request)["refreshToken"])
        return Response(status=204)


def _require_passwords() -> None:
    if not settings.PASSWORD_SIGN_IN:
        page = settings.BASE_URL + reverse("account_login")
        raise NotAllowed(PASSWORDS_OFF.format(page=page), code="password_sign_in_off")


def _require_code(request: Request, user: User, code: str) -> None:
    used = use_code(user=user, code=code, origin=origin_of(request))
    if used is None:
        raise Unauthenticated(WRONG_OTP, [{"field": "otp", "message": "mfa_required"}], code="mfa_required")
    used.record_usage()


def _validated(body: type[Serializer], request: Request) -> dict[str, Any]:
    serializer = body(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def _signed_in(request: Request, user: User, business: Business | None) -> dict[str, Any]:
    person = {"id": user.id, "email": user.email, "name": user.name, "role": user.role}
    return {
        "user": person,
        **_pair_record(tokens.issue(user, origin_of(request))),
        "businessId": business and business.id,
    }


def _pair_record(pair: TokenPair) -> dict[str, Any]:
    return {
        "accessToken": pair.access,
        "refreshToken": pair.refresh,
        "tokenType": "Bearer",
        "expiresIn": pair.expires_in,
    }
