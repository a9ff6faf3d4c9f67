"""Renders forms with one field template for the whole site (templates/forms/), and defines a few widgets."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.forms.renderers import TemplatesSetting


class FormRenderer(TemplatesSetting):
    form_template_name = "forms/form.html"
    field_template_name = "forms/field.html"


class DescribedChoices(forms.widgets.ChoiceWidget):
    """Choices with more than a label: a sentence (`about`), a technical name (`names`) and a heading (`groups`).

    Each of these maps a choice's value to its text.
    """

    look = "lines"

    def __init__(
        self,
        *,
        about: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
        groups: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.about = about or {}
        self.names = names or {}
        self.groups = groups or {}

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **options)
        return option | {
            "about": self.about.get(str(value), ""),
            "name_shown": self.names.get(str(value), ""),
            "group": self.groups.get(str(value), ""),
        }


class RadioCards(DescribedChoices, forms.RadioSelect):
    """Large cards side by side, for two or three important choices."""

    look = "cards"


class RadioLines(DescribedChoices, forms.RadioSelect):
    """Lines in a box, for more choices."""


class CheckboxLines(DescribedChoices, forms.CheckboxSelectMultiple):
    """Any number of choices, each with a sentence: permissions, events."""


class SwitchInput(forms.CheckboxInput):
    """On or off."""

    def __init__(self, attrs: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__({"role": "switch"} | (attrs or {}), **options)
