"""What a visitor of the marketplace asks for. It is the page's query; every field may be missing."""

from typing import Any

from django import forms

from marketplace.enums import Category, Sort, Without
from marketplace.listing import Wanted


class ListingForm(forms.Form):
    q = forms.CharField(
        label="Search apps",
        required=False,
        max_length=100,
        widget=forms.TextInput(
            {"type": "search", "autocomplete": "off", "placeholder": "Name, purpose or developer"}
        ),
    )
    category = forms.ChoiceField(required=False, choices=Category.choices, widget=forms.HiddenInput)
    sort = forms.ChoiceField(label="Sort by", required=False, choices=Sort.choices)
    without = forms.MultipleChoiceField(
        label="Data access",
        required=False,
        choices=Without.choices,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for field in self.fields.values():
            field.widget.attrs["form"] = "listing"

    def wanted(self) -> Wanted:
        chosen = self.cleaned_data
        return Wanted(
            words=chosen["q"],
            category=chosen["category"],
            without=tuple(chosen["without"]),
            sort=chosen["sort"] or Sort.INSTALLS,
        )
