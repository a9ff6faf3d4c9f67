"""Serializer fields that take the JSON type they name and no other.

DRF reads `"5"`, `5.0` and `true` as the integer 5 or 1. On a published wire that hides a caller's
mistake, so here a wrong type is a 400 that names the field.
"""

from datetime import datetime
from typing import Any

from rest_framework import serializers

from common.times import parse_moment


class Text(serializers.CharField):
    default_error_messages = {"invalid": "Must be a string."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Identifier(Text):
    """Text that names something: it is that name or it is not, and white space around it is not taken away."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class Integer(serializers.IntegerField):
    default_error_messages = {"invalid": "Must be an integer."}

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class Number(serializers.FloatField):
    default_error_messages = {"invalid": "Must be a number."}

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class Boolean(serializers.BooleanField):
    default_error_messages = {"invalid": "Must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class Choice(serializers.ChoiceField):
    default_error_messages = {"invalid_choice": "Must be one of: {choices}."}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(map(str, self.choices)))
        return super().to_internal_value(data)


class Moment(serializers.Field):
    default_error_messages = {
        "invalid": "Must be an ISO 8601 time with an offset, such as 2026-11-20T15:04:05Z."
    }

    def to_internal_value(self, data: Any) -> datetime:
        try:
            return parse_moment(data)
        except (TypeError, ValueError, OverflowError):
            self.fail("invalid")
