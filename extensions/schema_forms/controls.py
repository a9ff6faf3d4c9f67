"""The fields of a settings form. Each turns a setting into the text that its control shows, and back.

None of them checks a rule of the schema: what is required, a limit, a pattern.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.core.exceptions import ValidationError

from common.text.nesting import is_too_deep
from extensions.json_documents import MAX_BYTES
from extensions.schemas.keywords import is_color, moment

MISSING: Final = object()  # the setting is left out
TOO_DEEP: Final = "This is nested too deeply."


class Control(forms.Field):
    """A field that gives `MISSING` when it is empty."""

    def text_of(self, value: Any) -> str | None:
        """What the control shows for a value; None: nothing, or a cleared checkbox."""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def posted(self, data: Mapping[str, Any], name: str) -> str | None:
        return data.get(name)

    def validate(self, value: Any) -> None:
        """The schema does."""


class TextControl(Control, forms.CharField):
    """Text of one line, or of many. `keeps_empty`: emptied, it is set to no text, since it would be a default else."""

    def __init__(self, *, keeps_empty: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.keeps_empty = keeps_empty

    def to_python(self, value: Any) -> Any:
        text = (super().to_python(value) or "").replace("\r\n", "\n")
        return text if text or self.keeps_empty else MISSING


class NumberControl(Control):
    """A number, whole where it can be: 12, not 12.0."""

    def __init__(self, *, whole: bool = False, **options: Any) -> None:
        super().__init__(**options)
        self.whole = whole

    def to_python(self, value: Any) -> Any:
        text = (value or "").strip()
        if not text:
            return MISSING
        try:
            number = float(text) if len(text) <= 100 else float("nan")
        except ValueError:
            number = float("nan")
        if number != number or abs(number) == float("inf"):
            raise ValidationError("Enter a whole number." if self.whole else "Enter a number.")
        if not number.is_integer():
            return number
        return int(text) if text.lstrip("+-").isdecimal() else int(number)


class CheckControl(Control, forms.BooleanField):
    def text_of(self, value: Any) -> str | None:
        return "on" if value is True else None

    def posted(self, data: Mapping[str, Any], name: str) -> str | None:
        return "on" if data.get(name, "") not in ("", "false", "False", "0") else None


class ChoiceControl(Control, forms.ChoiceField):
    """One of the schema's values, of any type; `values` by the text of each choice."""

    def __init__(self, *, values: Mapping[str, Any], **options: Any) -> None:
        super().__init__(**options)
        self.values = values

    def text_of(self, value: Any) -> str | None:
        same = (text for text, each in self.values.items() if each == value and type(each) is type(value))
        return next(same, "")

    def to_python(self, value: Any) -> Any:
        if value in (None, ""):
            return MISSING
        if value not in self.values:
            raise ValidationError("Choose one of the choices.")
        return self.values[value]


class MomentControl(Control):
    """Date and time in the zone of the business, kept with the offset that holds there at that moment.

    An unchanged value is stored exactly as before, including its offset, its fraction of a second, and which of the
    two same hours at the end of summer time it means.
    """

    def __init__(self, *, zone: ZoneInfo, kept: Any = MISSING, **options: Any) -> None:
        super().__init__(**options)
        self.zone = zone
        self.kept = kept

    def text_of(self, value: Any) -> str | None:
        try:
            local = moment(value).astimezone(self.zone)
        except (ValueError, TypeError, OverflowError):
            return ""
        return local.strftime("%Y-%m-%dT%H:%M:%S" if local.second else "%Y-%m-%dT%H:%M").rjust(16, "0")

    def to_python(self, value: Any) -> Any:
        if not value:
            return MISSING
        if self.kept is not MISSING and value == self.text_of(self.kept):
            return self.kept
        try:
            return self._with_offset(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            raise ValidationError("Enter a date and a time.") from None

    def _with_offset(self, entered: datetime) -> str:
        if entered.tzinfo is None:
            local = entered.replace(tzinfo=self.zone)
            if local.astimezone(UTC).astimezone(self.zone).replace(tzinfo=None) != entered:
                raise ValidationError(
                    f"There is no such time in {self.zone.key}: the clocks go forward over it. Enter another."
                )
            entered = local
        return entered.isoformat(timespec="seconds")


class ColorWidget(forms.TextInput):
    """A color picker, which can't be empty: where a color may be left out, a box says that there is none."""

    input_type = "color"
    template_name = "extensions/color.html"

    def __init__(self, *, may_be_none: bool, **options: Any) -> None:
        super().__init__(**options)
        self.may_be_none = may_be_none

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        shown = value.lower() if isinstance(value, str) and is_color(value) else ColorControl.UNSET
        context["widget"] |= {"value": shown, "may_be_none": self.may_be_none, "is_none": not value}
        return context


class ColorControl(Control):
    UNSET: Final = "#000000"  # what a picker without a color shows

    def text_of(self, value: Any) -> str | None:
        return value.lower() if isinstance(value, str) else ""

    def posted(self, data: Mapping[str, Any], name: str) -> str | None:
        """ "None" holds unless another color was picked after all."""
        color = data.get(name)
        return "" if f"{name}:none" in data and color == data.get(f"{name}:shown") else color

    def to_python(self, value: Any) -> Any:
        return value or MISSING


class JsonControl(Control):
    """The text field for what no other control fits."""

    def text_of(self, value: Any) -> str | None:
        return json.dumps(value, ensure_ascii=False, indent=2)

    def to_python(self, value: Any) -> Any:
        text = (value or "").strip()
        if not text:
            return MISSING
        try:
            found = json.loads(text[: MAX_BYTES + 1], parse_constant=_refuse)
        except RecursionError:
            raise ValidationError(TOO_DEEP) from None
        except json.JSONDecodeError as error:
            raise ValidationError(
                f"This is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
            ) from None
        except ValueError:
            raise ValidationError("This is not JSON.") from None
        if is_too_deep(text.encode(), found):
            raise ValidationError(TOO_DEEP)
        return found


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


class ListWidget(forms.Widget):
    """Never shown: the template of a list is. Says that a link to the list leads to its fieldset."""

    use_fieldset = True


class ListControl(Control):
    """A list as a whole, where its own problems are shown."""

    widget = ListWidget

    def to_python(self, value: Any) -> Any:
        return MISSING
