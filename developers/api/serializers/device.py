"""Bodies and answers of a sign-in on a command line. The names are those of RFC 8628."""

from rest_framework import serializers

from common import lengths
from common.rest.fields import Integer, Text

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
