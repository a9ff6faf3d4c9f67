"""Forms about deliveries: filters, selection, recovery, the signature checker and test events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django import forms

from accounts.times import in_zone
from common.web.forms.texts import Lines
from common.web.forms.widgets import LongChoiceField
from developers.portal.deliveries.log import DeliverySearch, EndpointChoice
from developers.portal.filter_forms import ListFilters, MomentField, search_field
from webhooks import catalogue
from webhooks.enums import DeliveryStatus

MAX_CHOICES: Final = 100  # in a drop-down
MOST_TO_FILTER_BY: Final = 50  # in one of a list's filters; others are found by ID
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
