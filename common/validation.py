"""Validates values with the rules of their model fields."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db.models import Model

from common.errors import ErrorDetail, Invalid


def field_problems(instance: Model, names: Mapping[str, str]) -> list[ErrorDetail]:
    """The problems of the fields in `names`, which maps each to the caller's name for it:

    `{"customer_name": "customer.name"}`.
    """
    others = {field.name for field in instance._meta.fields} - names.keys()
    try:
        instance.clean_fields(exclude=others)
    except ValidationError as error:
        return [
            {"field": names[column], "message": message}
            for column, messages in error.message_dict.items()
            for message in messages
        ]
    return []


def check_fields(instance: Model, names: Mapping[str, str]) -> None:
    """Raise `Invalid` with every problem that `field_problems` finds."""
    if problems := field_problems(instance, names):
        raise Invalid.fields(problems)
