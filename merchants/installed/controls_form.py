"""The form of a merchant's switches for one app, and of its cap."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.html import escape

from common.web.forms.edits import EditForm
from common.web.forms.widgets import SwitchInput
from extensions.in_store.switches import Controls

MOST = "most_discount"
CAP = "Most this app may take off an order (%)"


class ControlsForm(EditForm):
    """One switch for each capability, labelled with its sentence. A part that came after the page was loaded stays as it is."""

    def __init__(self, controls: Controls, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.controls = controls
        for each in controls.switches:
            self.fields[each.key] = forms.BooleanField(
                label=each.capability.title,
                help_text=escape(each.capability.detail),  # the template trusts help texts
                initial=each.is_on,
                required=False,
                widget=SwitchInput,
            )
        if controls.most_discount is not None:
            self.fields[MOST] = forms.IntegerField(
                label=CAP,
                help_text="Of the price of the products, for each order. 100 is no limit.",
                initial=controls.most_discount,
                min_value=0,
                max_value=100,
                error_messages={
                    "required": "Enter a number from 0 to 100.",
                    "invalid": "Enter a whole number.",
                },
            )

    @property
    def has_controls(self) -> bool:
        return bool(self.controls.switches)

    @property
    def changes(self) -> dict[str, Any]:
        """For `change_controls`."""
        changed = super().changes
        switched = {
            definition: changed[each.key]
            for each in self.controls.switches
            if each.key in changed
            for definition in each.capability.definitions
        }
        return {"switched": switched, "most_discount": changed.get(MOST)}
