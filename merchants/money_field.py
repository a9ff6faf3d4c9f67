"""Fields of a merchant's forms."""

import re
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError

from common.money import decimals
from stores.hookpoints import MAX_MINOR

AMOUNT: Final = re.compile(r"([0-9]{1,17})(?:[.,]([0-9]{1,10}))?")
MAYBE_THOUSANDS: Final = re.compile(r"([1-9][0-9]{0,2})[.,]([0-9]{3})")


class MoneyField(forms.Field):
    """An amount typed in major units, `12.50` or `12,50`; its value is an integer of minor units.

    In `1.250` and `1,250` the separator may be one of thousands, so these are refused, unless the currency has three decimals.
    """

    widget = forms.TextInput({"inputmode": "decimal", "autocomplete": "off"})

    def __init__(self, *, currency: str, **options: Any) -> None:
        super().__init__(**options)
        self.places = decimals(currency)

    def prepare_value(self, value: Any) -> Any:
        """The text that the page shows for minor units; typed text stays."""
        if isinstance(value, int):
            return f"{Decimal(value).scaleb(-self.places):.{self.places}f}"
        return value

    def to_python(self, value: Any) -> int | None:
        typed = "" if value is None else str(value).strip()
        if not typed:
            return None
        found = AMOUNT.fullmatch(typed)
        if not found:
            raise ValidationError(f"Enter an amount such as {self._example}.", "invalid")
        whole, fraction = found[1], found[2] or ""
        if self.places != 3 and MAYBE_THOUSANDS.fullmatch(typed):
            raise ValidationError(self._two_readings(typed, whole, fraction), "invalid")
        if len(fraction) > self.places:
            raise ValidationError(f"Enter {self._at_most}, such as {self._example}.", "invalid")
        minor = int(Decimal(f"{whole}.{fraction}").scaleb(self.places))
        if minor > MAX_MINOR:
            raise ValidationError("Enter a smaller amount.", "invalid")
        return minor

    def _two_readings(self, typed: str, whole: str, fraction: str) -> str:
        minor = Decimal(f"{whole}.{fraction}").scaleb(self.places)
        small = self.prepare_value(int(minor)) if minor == int(minor) else self._at_most
        return f"“{typed}” can mean two amounts. Enter {whole}{fraction}, or {small}."

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
