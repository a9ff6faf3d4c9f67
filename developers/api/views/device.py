"""Signing in on a command line (RFC 8628). The person agrees at `/portal/device/`."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.services import device_grants
from accounts.sign_in.origins import origin_of
from common.errors import ERROR_CODE_HEADER
from common.rest.parsers import FormParser, JsonParser
from common.rest.schema import problem
from common.rest.views import JsonView
from common.web.limits.auth_limits import limit_by_address
from common.web.middleware.form_bodies import FORM
from developers.api.serializers.device import (
    DeviceBody,
    DeviceCodesSerializer,
    DeviceTokenBody,
    DeviceTokenSerializer,
)
from developers.api.views.base import NO_STORE, validated
from installations.serializers import OAuthErrorSerializer

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
CODES = {429: "temporarily_unavailable", 503: "temporarily_unavailable", 500: "server_error"}


class DeviceView(JsonView):
    tag = "Accounts"
    parser_classes = [JsonParser, FormParser]

    @extend_schema(
        "startDeviceSignIn",
        request={FORM: DeviceBody},
        responses={200: DeviceCodesSerializer, 429: problem("More than 60 a minute from one address.")},
    )
    def post(self, request: Request) -> Response:
        """Start a sign-in on a command line.

        Show `user_code` and `verification_uri`, or open `verification_uri_complete`. Then ask for the token every
        `interval` seconds. Fields are those of RFC 8628. Bodies may be JSON, too.
        """
        limit_by_address(request, "device")
        name = validated(DeviceBody, request).get("client_name", "")
        codes = device_grants.start(client_name=name, network=origin_of(request).network)
        page = settings.BASE_URL + reverse("portal:device")
        body = {
            "device_code": codes.device_code,
            "user_code": codes.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?user_code={codes.user_code}",
            "expires_in": int(device_grants.LIFETIME.total_seconds()),
            "interval": device_grants.INTERVAL,
        }
        return Response(body, headers=NO_STORE)


class DeviceTokenView(JsonView):
    """All errors have the shape of RFC 6749 section 5.2, which programs for RFC 8628 expect."""

    tag = "Accounts"
    parser_classes = [JsonParser, FormParser]
    error_serializer = OAuthErrorSerializer

    @extend_schema(
        "redeemDeviceCode",
        request={FORM: DeviceTokenBody},
        responses={
            200: DeviceTokenSerializer,
            400: problem(
                "`authorization_pending`: ask again. `slow_down`: ask again, from now on five seconds later each time. "
                "`access_denied`, `expired_token`, `invalid_grant`: start again."
            ),
            429: problem("More than 60 a minute from one address."),
        },
    )
    def post(self, request: Request) -> Response:
        """Get the token of a command line.

        The answer is an error until the person has agreed, and then once a developer token without rights. It is valid for 90 days.
        """
        limit_by_address(request, "device-token")
        body = validated(DeviceTokenBody, request)
        if body["grant_type"] != GRANT_TYPE:
            return _refusal("unsupported_grant_type", f"Send the grant_type {GRANT_TYPE}.")
        try:
            issued = device_grants.redeem(device_code=body["device_code"])
        except device_grants.DeviceError as error:
            return _refusal(error.code, error.description)
        lifetime = issued.token.expires_at - timezone.now()
        answer = {
            "access_token": issued.text,
            "token_type": "Bearer",
            "expires_in": round(lifetime.total_seconds()),
        }
        return Response(answer, headers=NO_STORE)

    def handle_exception(self, exc: Exception) -> Response:
        answer = super().handle_exception(exc)
        body: dict[str, Any] = answer.data
        code = CODES.get(answer.status_code, "invalid_request")
        answer.data = {"error": code, "error_description": body["message"]}
        return answer


def _refusal(code: str, description: str) -> Response:
    body = {"error": code, "error_description": description}
    return Response(body, status=400, headers=NO_STORE | {ERROR_CODE_HEADER: code})
