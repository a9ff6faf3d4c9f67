"""What the filters above the portal's lists have in common."""

from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone

RANGES: Final = {
    "1h": ("Last hour", timedelta(hours=1)),
    "24h": ("Last 24 hours", timedelta(hours=24)),
    "7d": ("Last 7 days", timedelta(days=7)),
}

Choices = list[tuple[str, Any]]  # values with labels, or groups of them


class MomentField(forms.DateTimeField):
    """A time to the minute, in UTC."""

    default_error_messages = {"invalid": "Enter a date and a time, such as 2026-11-20T15:30."}

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
        super().__init__(widget=widget, **options)


def search_field(label: str, *, max_length: int) -> forms.CharField:
    """A field for an id or a text."""
    widget = forms.TextInput({"type": "search", "autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, required=False, max_length=max_length, widget=widget)


class ListFilters(forms.Form):
    """Filters from the page's query string, all optional: a range of time, and what a list adds."""

    range = forms.ChoiceField(label="Time", required=False)
    since = MomentField(label="From (UTC)", required=False)
    until = MomentField(label="To (UTC)", required=False)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        self.offer("range", "Any time", [(name, label) for name, (label, _) in RANGES.items()])

    def offer(self, name: str, any_label: str, choices: Choices) -> None:
        """Set the options of a drop-down."""
        field: Any = self.fields[name]
        field.choices = [("", any_label), *choices]
        field.error_messages["invalid_choice"] = f"Choose an option of “{field.label or name.capitalize()}”."

    def since_when(self, now: datetime | None = None) -> datetime | None:
        """The beginning of a valid form's time. A range counts back from `now`."""
        if chosen := self.cleaned_data["range"]:
            return (now or timezone.now()) - RANGES[chosen][1]
        since: datetime | None = self.cleaned_data["since"]
        return since

    @property
    def has_exact_times(self) -> bool:
        return bool(self.data.get("since") or self.data.get("until"))
