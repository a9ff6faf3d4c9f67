"""What the filters above the portal's lists have in common."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from django import forms
from django.core.exceptions import ValidationError
from django.http import JsonResponse, QueryDict
from django.utils import timezone

from accounts.times import in_zone
from common.times import parse_moment
from common.web.forms.widgets import Choices, LongChoiceField

RANGES: Final = {
    "1h": ("Last hour", timedelta(hours=1)),
    "24h": ("Last 24 hours", timedelta(hours=24)),
    "7d": ("Last 7 days", timedelta(days=7)),
}

MAX_NEW: Final = 100  # rows that are counted for the link to new ones

Position = TypeVar("Position")  # in a list


class MomentField(forms.DateTimeField):
    """A time to the minute, in the zone of the page. Links may give it with an offset."""

    default_error_messages = {
        "invalid": "Enter a date and a time, such as 2026-11-20T15:30.",
        "out_of_range": "Enter a time in the years 1 to 9999.",
    }

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
        super().__init__(widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            with suppress(ValueError, OverflowError):  # the latter in the zone of the page
                return super().prepare_value(parse_moment(value))
        return super().prepare_value(value)

    def to_python(self, value: Any) -> datetime | None:
        """In UTC. Within the years there as well as in the zone of the page, which shows it."""
        moment: datetime | None = super().to_python(value)
        try:
            return moment and timezone.localtime(moment).astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["out_of_range"], code="out_of_range") from None


def search_field(label: str, *, max_length: int) -> forms.CharField:
    """A field for an id or a text."""
    widget = forms.TextInput({"type": "search", "autocomplete": "off", "spellcheck": "false"})
    return forms.CharField(label=label, required=False, max_length=max_length, widget=widget)


class ListFilters(forms.Form):
    """Filters from the page's query string, all optional: a range of time, and what a list adds."""

    range = LongChoiceField(label="Time", required=False)
    since = MomentField(label=in_zone("From"), required=False)
    until = MomentField(label=in_zone("To"), required=False)

    def __init__(self, query: Any) -> None:
        super().__init__(given := self.given_in(query))
        self.query_string = given.urlencode()
        self.offer("range", "Any time", [(name, label) for name, (label, _) in RANGES.items()])

    @classmethod
    def given_in(cls, query: QueryDict) -> QueryDict:
        """The filters in a page's query string, without the position in the list."""
        given = QueryDict(mutable=True)
        given.update({name: str(query[name]) for name in cls.base_fields if query.get(name)})
        return given

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


def news(form: ListFilters, after: Position | None, count: Callable[[Position], int]) -> JsonResponse:
    """JSON such as `{"count": 3}`: how many rows that match are newer than `after`."""
    return JsonResponse({"count": count(after) if after is not None and form.is_valid() else 0})
