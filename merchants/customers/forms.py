"""Whom a merchant looks for."""

from typing import Any

from django import forms

from common.errors import Invalid
from stores.customers import Person


class CustomerSearch(forms.Form):
    """Exactly one of the two. `person` is the result."""

    use_required_attribute = False
    email = forms.CharField(
        label="E-mail",
        required=False,
        max_length=254,
        widget=forms.TextInput({"type": "search", "inputmode": "email", "autocomplete": "off"}),
    )
    phone = forms.CharField(
        label="Phone",
        required=False,
        max_length=60,
        widget=forms.TextInput({"type": "search", "inputmode": "tel", "autocomplete": "off"}),
    )
    person: Person

    def clean(self) -> dict[str, Any]:
        typed = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                self.person = Person.of(email=typed["email"], phone=typed["phone"])
            except Invalid as error:
                for problem in error.details:
                    self.add_error(problem["field"], problem["message"])
        return typed
