"""Serializer fields that accept only their own JSON type, and document themselves.

DRF reads `"5"` and `true` as the integer 5 or 1. In a public API that hides mistakes, so here a wrong type is a 400 with the
field's name. `5.0` is an integer, as JSON Schema says.

Each field has a description and an example for the documentation: `Text("The name.", "Espresso beans")`. They are DRF's
`help_text` and `initial`. `schema` has JSON Schema keywords that the field's options can't express.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from rest_framework import serializers

from common import money
from common.times import OutOfRange, iso, parse_moment

MAX_AMOUNT: Final = 1_000_000_000_000  # major units; a float still has exact decimals there


class Described(serializers.Field):
    def __init__(
        self, about: str = "", example: Any = None, *, schema: dict[str, Any] | None = None, **options: Any
    ) -> None:
        super().__init__(help_text=about, initial=example, **options)
        self.schema = schema or {}


class Text(Described, serializers.CharField):
    default_error_messages = {"invalid": "Must be a string."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Identifier(Text):
    """Text that identifies something, so white space around it is kept."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, trim_whitespace=False, **options)


class OptionalText(Text):
    """A text that may be missing, null or blank. All three give ""."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, default="", allow_blank=True, allow_null=True, **options)

    def run_validation(self, data: Any = serializers.empty) -> str:
        return super().run_validation("" if data is None else data)


class Integer(Described, serializers.IntegerField):
    default_error_messages = {"invalid": "Must be an integer."}

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, float) and data.is_integer():
            data = int(data)
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class Number(Described, serializers.FloatField):
    default_error_messages = {"invalid": "Must be a number."}

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class MinorUnits(Number):
    """A number of at least 0 in major units of `context["currency"]`, converted to minor units.

    More decimals than the currency has are an error.
    """

    default_error_messages = {"decimals": "At most {places} decimals, because the currency is {currency}."}

    def __init__(self, *args: Any, min_value: int = 0, **options: Any) -> None:
        super().__init__(*args, min_value=min_value, max_value=MAX_AMOUNT, **options)

    def run_validation(self, data: Any = serializers.empty) -> int:
        value = super().run_validation(data)
        currency = self.context["currency"]
        exact, places = Decimal(str(value)), money.decimals(currency)
        if exact != round(exact, places):
            self.fail("decimals", currency=currency, places=places)
        return money.to_minor(value, currency)


class OptionalAmount(MinorUnits):
    """An amount that may be missing or null, which gives 0."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, default=0, allow_null=True, **options)

    def run_validation(self, data: Any = serializers.empty) -> int:
        return super().run_validation(0 if data is None else data)


class Boolean(Described, serializers.BooleanField):
    default_error_messages = {"invalid": "Must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class Choice(Described, serializers.ChoiceField):
    default_error_messages = {"invalid_choice": "Must be one of: {choices}."}

    def __init__(self, choices: Iterable[Any], about: str = "", example: Any = None, **options: Any) -> None:
        super().__init__(about, example, choices=choices, **options)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", choices=", ".join(map(str, self.choices)))
        return super().to_internal_value(data)


class Moment(Described, serializers.DateTimeField):
    default_error_messages = {
        "invalid": "Must be an ISO 8601 time with an offset, such as 2026-11-20T15:04:05Z.",
        "out_of_range": "Must be from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.",
    }

    def __init__(self, about: str = "", example: Any = "2026-11-20T15:04:05.123Z", **options: Any) -> None:
        super().__init__(about, example, **options)

    def to_internal_value(self, value: Any) -> datetime:
        try:
            return parse_moment(value)
        except OutOfRange:
            self.fail("out_of_range")
        except (TypeError, ValueError):
            self.fail("invalid")

    def to_representation(self, value: datetime) -> str:
        return iso(value)


class Date(Described, serializers.DateField):
    pass


class StringList(Described, serializers.ListField):
    """A list of strings. `among` documents the allowed ones."""

    def __init__(
        self, about: str = "", example: Any = None, *, among: Sequence[str] = (), **options: Any
    ) -> None:
        options.setdefault("child", Identifier(schema={"enum": list(among)} if among else None))
        super().__init__(about, example, **options)


class Object(Described, serializers.DictField):
    """Any JSON object."""


class ApiSerializer(serializers.Serializer):
    """A serializer whose fields have camelCase names: `webhookUrl` is the attribute `webhook_url`."""

    def get_fields(self) -> dict[str, serializers.Field]:
        fields = super().get_fields()
        for name, field in fields.items():
            attribute = re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
            field.source = field.source or (None if attribute == name else attribute)
        return fields


def example_of(field: Any) -> Any:
    """The field's example. The example of an object or a list is built from its parts."""
    if isinstance(field, serializers.ListSerializer):
        return [example_of(field.child)]
    if isinstance(field, serializers.Serializer) and not field.allow_null:
        return {name: example_of(part) for name, part in field.fields.items()}
    return field.initial
