"""Fields of a merchant's forms."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from common.money import decimals
from stores.hookpoints import MAX_MINOR

AMOUNT = re.compile(r"[0-9]{1,17}(\.[0-9]{1,10})?")
DECIMAL_COMMA = re.compile(r"[0-9]+,[0-9]{1,2}")


class MoneyField(forms.Field):
    """An amount typed in major units, `12.50`; its value is an integer of minor units.

    A comma is a decimal one where it can be no other: before one or two digits.
    """

    widget = forms.TextInput({"inputmode": "decimal", "autocomplete": "off"})

    def __init__(self, *, currency: str, **options: Any) -> None:
        super().__init__(**options)
        self.places = decimals(currency)

    def prepare_value(self, value: Any) -> Any:
        """What the page shows of minor units; what was typed stays."""
        if isinstance(value, int):
            return f"{Decimal(value).scaleb(-self.places):.{self.places}f}"
        return value

    def to_python(self, value: Any) -> int | None:
        typed = "" if value is None else str(value).strip()
        if not typed:
            return None
        if self.places and DECIMAL_COMMA.fullmatch(typed):
            typed = typed.replace(",", ".")
        if not AMOUNT.fullmatch(typed):
            raise ValidationError(f"Enter an amount such as {self._example}.", "invalid")
        minor = Decimal(typed).scaleb(self.places)
        if minor != minor.to_integral_value():
            raise ValidationError(f"Enter {self._at_most}, such as {self._example}.", "invalid")
        if minor > MAX_MINOR:
            raise ValidationError("Enter a smaller amount.", "invalid")
        return int(minor)

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return self.to_python(self.prepare_value(initial)) != self.to_python(data)
        except ValidationError:
            return True

    @property
    def _example(self) -> str:
        return f"{Decimal(1250).scaleb(-2):.{self.places}f}" if self.places else "1250"

    @property
    def _at_most(self) -> str:
        return f"at most {self.places} decimals" if self.places else "a whole amount"
