"""The filters of the page Requests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django import forms
from django.utils import timezone

from activity.feed import API, CLASSES, FAILED, HOOK, WEBHOOK, Filters
from developers.portal.delivery_forms import RANGES, Moment
from installations.models import Installation

KIND_LABELS: Final = {API: "API calls", HOOK: "Hook calls", WEBHOOK: "Webhooks"}


class RequestFilterForm(forms.Form):
    """From the page's query string. All are optional."""

    q = forms.CharField(
        label="ID, path or message",
        required=False,
        max_length=200,
        widget=forms.TextInput({"type": "search", "autocomplete": "off", "spellcheck": "false"}),
    )
    kind = forms.ChoiceField(required=False)
    status = forms.ChoiceField(required=False)
    endpoint = forms.ChoiceField(required=False)
    installation = forms.ChoiceField(label="Store", required=False)
    range = forms.ChoiceField(label="Time", required=False)
    since = Moment(label="From (UTC)", required=False)
    until = Moment(label="To (UTC)", required=False)

    def __init__(
        self, data: Any, *, endpoints: Mapping[str, Sequence[str]], installations: Sequence[Installation]
    ) -> None:
        super().__init__(data)
        self._offer("kind", "Any kind", list(KIND_LABELS.items()))
        statuses = [(FAILED, "Failed"), *((name, name) for name in CLASSES)]
        self._offer("status", "Any status", statuses)
        named = data.get("endpoint", "")
        groups: list[tuple[str, Any]] = [
            (KIND_LABELS[kind], [(name, name) for name in names])
            for kind, names in endpoints.items()
            if names
        ]
        if named.startswith("/") and len(named) <= 120 and named not in endpoints[API]:
            groups.append(("Other", [(named, named)]))
        self._offer("endpoint", "Any endpoint", groups)
        self._offer(
            "installation", "Any store", [(str(each.pk), each.business.name) for each in installations]
        )
        self._offer("range", "Any time", [(name, label) for name, (label, _) in RANGES.items()])

    def _offer(self, name: str, any_label: str, choices: list[tuple[str, Any]]) -> None:
        field: Any = self.fields[name]
        field.choices = [("", any_label), *choices]
        field.error_messages["invalid_choice"] = f"Choose an option of “{field.label or name.capitalize()}”."

    def filters(self, now: datetime | None = None) -> Filters:
        """The filters of a valid form. A range counts back from `now`."""
        given = self.cleaned_data
        since = given["since"]
        if given["range"]:
            since = (now or timezone.now()) - RANGES[given["range"]][1]
        return Filters(
            kind=given["kind"],
            status=given["status"],
            endpoint=given["endpoint"],
            installation=UUID(given["installation"]) if given["installation"] else None,
            since=since,
            until=given["until"],
            text=given["q"].strip(),
        )

    @property
    def has_exact_times(self) -> bool:
        return bool(self.data.get("since") or self.data.get("until"))
