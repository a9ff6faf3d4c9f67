"""The filters of the pages Logs and API calls."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django import forms

from activity.feed import API, CLASSES, FAILED, HOOK, WEBHOOK, ActivityQuery
from developers.portal.filter_forms import ListFilters, search_field
from installations.models import Installation

KIND_LABELS: Final = {API: "API calls", HOOK: "Hook calls", WEBHOOK: "Deliveries"}


FILTERS: Final = (
    "kind",
    "status",
    "endpoint",
    "installation",
    "range",
)  # in this order, those that a form has


class LogFilterForm(ListFilters):
    """The filters above the list of everything that an app did and was sent."""

    only = ""

    q = search_field("ID, path or message", max_length=200)
    kind = forms.ChoiceField(required=False)
    status = forms.ChoiceField(required=False)
    endpoint = forms.ChoiceField(required=False)
    installation = forms.ChoiceField(label="Store", required=False)

    def __init__(
        self, data: Any, *, endpoints: Mapping[str, Sequence[str]], installations: Sequence[Installation]
    ) -> None:
        super().__init__(data)
        if not self.only:
            self.offer("kind", "Any kind", list(KIND_LABELS.items()))
        statuses = [(FAILED, "Failed"), *((name, name) for name in CLASSES)]
        self.offer("status", "Any status", statuses)
        named = data.get("endpoint", "")
        groups: list[tuple[str, Any]] = [
            (KIND_LABELS[kind], [(name, name) for name in names])
            for kind, names in endpoints.items()
            if names and self.only in ("", kind)
        ]
        if named.startswith("/") and len(named) <= 120 and named not in endpoints[API]:
            groups.append(("Other", [(named, named)]))
        self.offer("endpoint", "Any endpoint", groups)
        self.offer(
            "installation", "Any store", [(str(each.pk), each.business.name) for each in installations]
        )

    def filters(self, now: datetime | None = None) -> ActivityQuery:
        """The filters of a valid form. A range counts back from `now`."""
        given = self.cleaned_data
        return ActivityQuery(
            kind=self.only or given["kind"],
            status=given["status"],
            endpoint=given["endpoint"],
            installation=UUID(given["installation"]) if given["installation"] else None,
            since=self.since_when(now),
            until=given["until"],
            text=given["q"].strip(),
        )


class CallFilterForm(LogFilterForm):
    """Those above the list of API calls."""

    only = API
    kind = None  # type: ignore[assignment]
