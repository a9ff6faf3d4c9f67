"""Bodies of `/auth`: types here; what the values must be is decided by the services."""

from rest_framework import serializers

from accounts.enums import SELF_REGISTERED
from common.rest.fields import Choice, Text


class RegisterBody(serializers.Serializer):
    email = Text()
    password = Text(trim_whitespace=False)
    name = Text()
    role = Choice(SELF_REGISTERED)
    businessName = Text(source="business_name", required=False, allow_blank=True)
    businessType = Text(source="business_type", required=False, allow_blank=True)
    address = Text(required=False, allow_blank=True)
    currency = Text(required=False)


class LoginBody(serializers.Serializer):
    email = Text()
    password = Text(trim_whitespace=False)


class RefreshTokenBody(serializers.Serializer):
    refreshToken = Text()
