"""Bodies and responses of `/auth`. Types are checked here; what the values may be is decided by the services."""

from functools import partial
from typing import Final

from rest_framework import serializers

from accounts.enums import SELF_REGISTERED, Role
from common import lengths
from common.money import CURRENCIES
from common.rest.fields import ApiSerializer, Choice, Integer, Text

JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2ln"


Optional = partial(Text, required=False, allow_blank=True)
Password = partial(
    Text,
    "At least eight characters.",
    "a-long-passphrase-7",
    trim_whitespace=False,
    max_length=lengths.PASSWORD,
)


class RegisterBody(ApiSerializer):
    email = Text("The login name.", "dana@example.com", max_length=lengths.EMAIL, schema={"format": "email"})
    password = Password(schema={"minLength": 8, "format": "password"})
    name = Text("Your name.", "Dana", max_length=lengths.PERSON)
    role = Choice(SELF_REGISTERED, "The kind of account.", "DEVELOPER")
    businessName = Optional("Required for MERCHANT.", "Dana's Coffee", max_length=lengths.PERSON)
    businessType = Optional("The kind of business.", "Cafe", max_length=60)
    address = Optional("The business's address.", "1 Harbour Street", max_length=lengths.ADDRESS)
    currency = Text("ISO 4217; USD by default.", "USD", required=False, schema={"enum": sorted(CURRENCIES)})

    schema: Final = {
        "if": {"properties": {"role": {"const": "MERCHANT"}}, "required": ["role"]},
        "then": {
            "properties": {"businessName": {"type": "string", "pattern": r"\S"}},
            "required": ["businessName"],
        },
    }


class LoginBody(serializers.Serializer):
    email = Text("The login name.", "dana@example.com", max_length=lengths.EMAIL)
    password = Password(schema={"format": "password"})
    otp = Optional(
        "With a second factor: a code of the authenticator app, or a recovery code.",
        "123456",
        max_length=lengths.IDENTIFIER,
    )


class RefreshTokenBody(serializers.Serializer):
    refreshToken = Text("Valid for one new pair, for 30 days.", JWT, max_length=lengths.TOKEN)


class UserSerializer(serializers.Serializer):
    id = Text("The account.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0b")
    email = Text("The login name.", "dana@example.com")
    name = Text("The name.", "Dana")
    role = Choice(Role.choices, "The kind of account.", "DEVELOPER")


class TokenPairSerializer(serializers.Serializer):
    accessToken = Text("The token of the developer API, valid for an hour.", JWT)
    refreshToken = Text("Valid for one new pair, for 30 days.", JWT)
    tokenType = Text("Always Bearer.", "Bearer", schema={"enum": ["Bearer"]})
    expiresIn = Integer("Seconds until the access token expires.", 3600, min_value=1)


class SignedInSerializer(TokenPairSerializer):
    user = UserSerializer()
    businessId = Text(
        "A developer's sandbox, a merchant's business.",
        "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a05",
        allow_null=True,
    )
