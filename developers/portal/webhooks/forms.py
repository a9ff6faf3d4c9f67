"""The form of a webhook endpoint: its URL, description and events, with an example payload of each event."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

import orjson
from django import forms
from django.utils import timezone

from common.web.forms.edits import EditForm
from common.web.forms.fields import CheckboxLines
from common.web.forms.pages import SecretForm
from developers.portal.webhooks.filter_field import FilterField, check
from installations.models import Installation
from marketplace.scopes import SCOPE_OF_EVENT
from webhooks import catalogue
from webhooks.insight.filtered import FilterTrial, try_filter
from webhooks.messages import message
from webhooks.models import Webhook
from webhooks.queries import events_of

MAX_URL: Final = 2048
MAX_DESCRIPTION: Final = 300
_EXAMPLE_ID: Final = UUID("0193c2a1-0000-7000-8000-000000000000")


def example_body(event: catalogue.EventType) -> str:
    """The whole body of a delivery of this event, indented."""
    data = orjson.dumps(event.example).decode()
    body = message.render_body(event.name, timezone.now(), str(_EXAMPLE_ID), str(_EXAMPLE_ID), data)
    return orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()


class EventBoxes(CheckboxLines):
    """Events under their scopes. Each has an example; those in `locked` can't be selected, and say why."""

    locked: Mapping[str, str] = {}

    def create_option(self, name: str, value: Any, *args: Any, **options: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **options)
        event = catalogue.EVENTS[str(value)]
        missing = self.locked.get(event.name, "")
        if missing and not option["selected"]:
            option["attrs"]["disabled"] = True
        return option | {"example": example_body(event), "missing_scope": missing}


def _heading(scope: str | None) -> str:
    return f"With the scope {scope}" if scope else "Without a scope"


class WebhookForm(forms.Form):
    """`webhooks.services.registration` checks the values."""

    url = forms.CharField(
        label="URL",
        max_length=MAX_URL,
        widget=forms.URLInput({"autocomplete": "off", "placeholder": "https://", "spellcheck": "false"}),
        help_text="We send each event there by POST.",
        error_messages={"required": "Enter the URL to send events to."},
    )
    description = forms.CharField(
        max_length=MAX_DESCRIPTION,
        required=False,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text="For you, such as the name of the server.",
    )
    events = forms.MultipleChoiceField(
        choices=[(name, name) for name in catalogue.SUBSCRIBABLE],
        widget=EventBoxes(
            about={name: catalogue.EVENTS[name].sentence for name in catalogue.SUBSCRIBABLE},
            groups={name: _heading(SCOPE_OF_EVENT.get(name)) for name in catalogue.SUBSCRIBABLE},
        ),
        error_messages={"required": "Choose at least one event."},
    )

    filter = FilterField(
        required=False,
        help_text="Fields are those of the event's data, such as amount. Without conditions, every chosen event is delivered.",
    )

    def __init__(
        self, data: Any = None, *, installation: Installation, webhook: Webhook | None = None
    ) -> None:
        initial = (
            {
                "events": events_of(webhook, installation),
                "filter": webhook.filter and orjson.loads(webhook.filter),
                "url": webhook.url,
                "description": webhook.description,
            }
            if webhook
            else {}
        )
        super().__init__(data, initial=initial)
        events: Any = self.fields["events"]
        events.template_name = "developers/portal/apps/event_boxes.html"
        events.widget.locked = {
            name: catalogue.EVENTS[name].scope
            for name in catalogue.without_scope(catalogue.SUBSCRIBABLE, installation.effective_scopes)
        }
        if webhook and webhook.is_app_defined:
            del self.fields["url"], self.fields["filter"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "filter" in self.fields and "events" in cleaned:
            check(self, "filter", cleaned["events"])
        return cleaned

    def trial(self, installation: Installation) -> FilterTrial | None:
        """What the filter that was typed, or else the saved one, does to the newest events. None with problems in it."""
        if not self.is_bound:
            return try_filter(
                installation, self.initial.get("filter"), self.initial.get("events", catalogue.SUBSCRIBABLE)
            )
        if "filter" in self.errors or "events" in self.errors:
            return None
        return try_filter(installation, self.cleaned_data["filter"], self.cleaned_data["events"])


class EditWebhookForm(WebhookForm, EditForm):
    """An unchanged list of events is left alone, so that an app-defined webhook goes on following the app's."""


class NewWebhookForm(WebhookForm, SecretForm):
    pass
