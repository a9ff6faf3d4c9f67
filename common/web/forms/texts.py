"""Fields for text, each with a maximum (contract, section 15, "Lengths")."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from django import forms
from django.core.validators import MaxLengthValidator

SomeForm = TypeVar("SomeForm", bound=forms.BaseForm)


class Lines(forms.CharField):
    """Text of several lines. A line break counts as one character, although browsers send two."""

    widget = forms.Textarea

    def to_python(self, value: Any) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def limited(**maxima: int) -> Callable[[type[SomeForm]], type[SomeForm]]:
    """Give maxima to fields of a form that a library made without them."""

    def decorate(form: type[SomeForm]) -> type[SomeForm]:
        fields: dict[str, Any] = form.base_fields  # type: ignore[attr-defined]
        for name, most in maxima.items():
            field = deepcopy(fields[name])  # the library's own form keeps its field
            fields[name] = form.declared_fields[name] = field  # type: ignore[attr-defined]
            field.max_length = most
            field.validators.append(MaxLengthValidator(most))
            if not field.widget.is_hidden:
                field.widget.attrs["maxlength"] = str(most)
        return form

    return decorate
