"""Forms about deliveries: filters, selection, recovery, the signature checker and test events. Filters of other lists have their fields from here."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.http import JsonResponse, QueryDict
from django.utils import timezone

from accounts.times import in_zone
from common.times import parse_moment
from common.web.forms.fields import Choices, Lines, LongChoiceField
from developers.portal.deliveries.log import DeliverySearch, EndpointChoice
from webhooks import catalogue
from webhooks.enums import DeliveryStatus

MAX_CHOICES: Final = 50  # in a drop-down; others are found by ID
MAX_PASTED: Final = 256 * 1024  # characters; our bodies are far smaller
TOO_LONG: Final = f"Too long. Paste at most {MAX_PASTED // 1024} KiB."

ALL: Final = "all"


def webhook_choices(webhooks: Sequence[EndpointChoice]) -> list[tuple[str, str]]:
    return [(str(each.pk), f"{_short(each.url)} ({each.store})") for each in webhooks[:MAX_CHOICES]]


def _installation_choices(webhooks: Sequence[EndpointChoice]) -> list[tuple[str, str]]:
    names = {str(each.installation_id): each.store for each in webhooks}
    return list(names.items())[:MAX_CHOICES]


def _short(url: str) -> str:
    bare = url.partition("://")[2]
    return bare if len(bare) <= 60 else f"{bare[:59]}…"


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


class FilterForm(ListFilters):
    """The filters above the list of deliveries."""

    q = search_field("Delivery, event or order ID", max_length=80)
    status = LongChoiceField(required=False)
    event = LongChoiceField(required=False)
    webhook = LongChoiceField(label="Endpoint", required=False)
    installation = LongChoiceField(label="Store", required=False)
    range = LongChoiceField(label="Created", required=False)

    def __init__(self, data: Any, *, webhooks: Sequence[EndpointChoice]) -> None:
        super().__init__(data)
        self.offer("status", "Any status", DeliveryStatus.choices)
        self.offer("event", "Any event", [(name, name) for name in catalogue.EVENTS])
        self.offer("webhook", "Any endpoint", webhook_choices(webhooks))
        self.offer("installation", "Any store", _installation_choices(webhooks))

    def filters(self, now: datetime | None = None) -> DeliverySearch:
        """The filters of a valid form. A range counts back from `now`."""
        given = self.cleaned_data
        return DeliverySearch(
            status=given["status"],
            event=given["event"],
            webhook=UUID(given["webhook"]) if given["webhook"] else None,
            installation=UUID(given["installation"]) if given["installation"] else None,
            since=self.since_when(now),
            until=given["until"],
            text=given["q"].strip(),
        )


class SelectionForm(forms.Form):
    """The selected rows of the list."""

    delivery = forms.TypedMultipleChoiceField(
        coerce=UUID, error_messages={"required": "Select the deliveries to resend."}
    )

    def __init__(self, data: Any, *, most: int) -> None:
        super().__init__(data)
        field: Any = self.fields["delivery"]
        field.choices = [(each, each) for each in data.getlist("delivery")[:most]]


class RecoverForm(forms.Form):
    """Failed and held deliveries since a time, of one endpoint or all."""

    webhook = LongChoiceField(
        label="Endpoint", error_messages={"invalid_choice": "Choose an endpoint from the list."}
    )
    since = MomentField(
        label=in_zone("Created since"),
        error_messages={"required": "Enter a time. Deliveries created since then are resent."},
    )

    def __init__(self, data: Any, *, webhooks: Sequence[EndpointChoice]) -> None:
        super().__init__(data)
        field: Any = self.fields["webhook"]
        field.choices = [(ALL, "All active endpoints"), *webhook_choices(webhooks)]


class SignatureForm(forms.Form):
    """A received request whose signatures are checked. Nothing is stored."""

    headers = Lines(
        widget=forms.Textarea(
            {"class": "code-text", "rows": 6, "spellcheck": "false", "autocomplete": "off"}
        ),
        max_length=MAX_PASTED,
        help_text="One per line. X-Webhook-Timestamp and a signature are enough.",
        error_messages={"required": "Paste the headers of the request.", "max_length": TOO_LONG},
    )
    body = Lines(
        strip=False,
        widget=forms.Textarea(
            {"class": "code-text", "rows": 6, "spellcheck": "false", "autocomplete": "off"}
        ),
        max_length=MAX_PASTED,
        help_text="The raw body as received, before any parsing.",
        error_messages={"required": "Paste the body of the request.", "max_length": TOO_LONG},
    )
    secret = forms.CharField(
        label="Webhook secret",
        strip=False,
        max_length=500,
        required=False,
        widget=forms.TextInput(
            {"class": "mono", "autocomplete": "off", "spellcheck": "false", "placeholder": "whsec_…"}
        ),
    )
    computed = forms.CharField(
        label="The signature your code computed",
        required=False,
        max_length=500,
        widget=forms.TextInput({"class": "mono", "autocomplete": "off", "spellcheck": "false"}),
        help_text="Hexadecimal or base64. We look for the mistake that produces it.",
    )

    def __init__(self, data: Any = None, *, has_own_secret: bool, initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        secret = self.fields["secret"]
        secret.required = not has_own_secret
        secret.error_messages["required"] = "Paste the secret that was shown when the webhook was created."
        secret.help_text = (
            "Leave empty to use this webhook's secret, which isn't shown."
            if has_own_secret
            else "It was shown once: in the response of POST /webhooks, or after the install."
        )
