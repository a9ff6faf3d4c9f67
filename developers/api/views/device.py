"""Signing in on a command line (RFC 8628). The person agrees at `/portal/device/`."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.services import developer_tokens
from accounts.sign_in.origins import origin_of
from common import lengths
from common.errors import ERROR_CODE_HEADER
from common.rest.bodies import FormParser, JsonParser
from common.rest.fields import Integer, Text
from common.rest.schema import problem
from common.rest.views import JsonView
from common.web.limits import limit_by_address
from common.web.middleware.bodies import FORM
from developers.api.views.base import NO_STORE, validated
from installations.serializers import OAuthErrorSerializer

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
CODES = {429: "temporarily_unavailable", 503: "temporarily_unavailable", 500: "server_error"}


DEVICE_CODE = "Jm3q4vXn8yT0aBzLr5kW2hGc7pDsE9uFi1oN6xVtKQY"


class DeviceBody(serializers.Serializer):
    client_name = Text(
        "What the person reads, and the name of the token.",
        "Order tool on ci-3",
        required=False,
        allow_blank=True,
        max_length=80,
    )


class DeviceCodesSerializer(serializers.Serializer):
    device_code = Text("Redeem it for the token. Secret.", DEVICE_CODE)
    user_code = Text("The person types it on the page.", "WDJB-MJHT")
    verification_uri = Text("The page.", "https://platform.example/portal/device/")
    verification_uri_complete = Text(
        "The page with the code filled in.", "https://platform.example/portal/device/?user_code=WDJB-MJHT"
    )
    expires_in = Integer("Seconds that the codes are valid.", 900, min_value=1)
    interval = Integer("Seconds to wait between two requests for the token.", 5, min_value=1)


class DeviceTokenBody(serializers.Serializer):
    grant_type = Text(
        "The kind of grant.", "urn:ietf:params:oauth:grant-type:device_code", max_length=lengths.IDENTIFIER
    )
    device_code = Text("From the start of this sign-in.", DEVICE_CODE, max_length=lengths.IDENTIFIER)


class DeviceTokenSerializer(serializers.Serializer):
    access_token = Text("A developer token.", "fbdt_3q4vXn8yT0aB")
    token_type = Text("Always Bearer.", "Bearer", schema={"enum": ["Bearer"]})
    expires_in = Integer("Seconds until the token expires.", 7776000, min_value=1)


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
        codes = developer_tokens.start_grant(client_name=name, network=origin_of(request).network)
        page = settings.BASE_URL + reverse("portal:device")
        body = {
            "device_code": codes.device_code,
            "user_code": codes.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?user_code={codes.user_code}",
            "expires_in": int(developer_tokens.GRANT_LIFETIME.total_seconds()),
            "interval": developer_tokens.GRANT_INTERVAL,
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
            issued = developer_tokens.redeem_grant(device_code=body["device_code"])
        except developer_tokens.DeviceError as error:
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
