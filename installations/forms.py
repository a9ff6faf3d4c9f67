"""The answer to the consent page."""

from typing import Any

from django import forms

from accounts.models import Business, BusinessQuerySet


class ShopForm(forms.Form):
    """Which of the merchant's businesses to install on, where there are several."""

    business = forms.ModelChoiceField(Business.objects.none(), label="Shop", empty_label=None)

    def __init__(self, *args: Any, businesses: BusinessQuerySet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["business"].queryset = businesses  # type: ignore[attr-defined]
