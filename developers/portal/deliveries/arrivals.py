"""Why didn't it arrive? The reason for an event, a store and a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.access import is_own_sandbox
from accounts.models import Business, User
from accounts.times import in_zone
from common.templatetags.links import address
from common.web.forms.fields import LongChoiceField, LongSelect
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries.forms import MAX_CHOICES, MomentField
from installations.models import Installation
from marketplace.models import App
from webhooks.catalogue import ERASURES, EVENTS, SUBSCRIBABLE
from webhooks.services.explaining import Cause, Reason, explain
from webhooks.services.retention import KEPT

EVENT_NAMES: Final = [name for name in SUBSCRIBABLE if name not in ERASURES]


class ArrivalForm(forms.Form):
    event = LongChoiceField(choices=[(name, name) for name in EVENT_NAMES], label="Event")
    store = forms.ModelChoiceField(
        Business.objects.none(), label="Store", empty_label=None, widget=LongSelect
    )
    at = MomentField(label=in_zone("Time"))

    def __init__(self, data: Any, *, app: App, stores: Mapping[UUID, str]) -> None:
        """`stores` are the choices. Others that have or had the app can be named in an address."""
        super().__init__(data)
        field: Any = self.fields["store"]
        field.queryset = Business.objects.filter(pk__in=app.installations.values("business"))
        field.choices = [(str(pk), name) for pk, name in stores.items()]


def _stores(app: App) -> dict[UUID, str]:
    """Names of stores that have or had the app: sandbox stores first, then those that installed it last."""
    sandboxes = app.installations.filter(business__is_sandbox=True).order_by("-business")
    others = Installation.objects.in_stores().filter(app=app).order_by("-installed_at")
    rows = [each.values_list("business", "business__name")[:MAX_CHOICES] for each in (sandboxes, others)]
    return dict(list(chain(*rows))[:MAX_CHOICES])


@require_safe
@app_page
def why(request: HttpRequest, app: App) -> HttpResponse:
    """Never cached, because it shows a store's events."""
    stores = _stores(app)
    first = next(iter(stores), None)
    asked = any(name in request.GET for name in ("event", "store", "at"))
    given = {
        "event": request.GET.get("event") or "order.created",
        "store": request.GET.get("store") or first or "",
        "at": request.GET.get("at") or timezone.localtime().strftime("%Y-%m-%dT%H:%M"),
    }
    form = ArrivalForm(given, app=app, stores=stores)
    context: dict[str, Any] = {"app": app, "form": form, "has_stores": first is not None}
    status = 200
    if asked and first is not None:
        if form.is_valid():
            context |= _answer(app, current_developer(request), form.cleaned_data)
        else:
            status = UNPROCESSABLE
            context["summary"] = form
    return render(request, "developers/portal/deliveries/why.html", context, status=status)


def _answer(app: App, person: User, asked: dict[str, Any]) -> dict[str, Any]:
    event_type, store = asked["event"], asked["store"]
    is_own = is_own_sandbox(store, person)
    reasons = explain(app=app, business=store, event_type=event_type, at=asked["at"])
    return {
        "reasons": [(explained(each, event_type), act_of(each, app, is_own=is_own)) for each in reasons],
        "event_type": event_type,
        "store": store,
        "asked_at": asked["at"],
    }


# Sentences for why an event did or didn't arrive (`webhooks.services.explaining`).


@dataclass(frozen=True, slots=True)
class Explained:
    """A reason with its pill, its sentence, and the name of its time, such as "Uninstalled"."""

    reason: Reason
    kind: str
    icon: str
    label: str
    sentence: str
    time_name: str


# Kind, icon and label of the pill; the sentence; the name of the time.
_WORDS: Final[dict[Cause, tuple[str, str, str, str, str]]] = {
    Cause.OLDER_THAN_KEPT: ("neutral", "clock", "No longer known", f"Events and deliveries are kept for {KEPT.days} days.", ""),
    Cause.NOT_INSTALLED_YET: ("neutral", "ban", "Not installed", "The app was not installed in this store at that time.", "Installed"),
    Cause.UNINSTALLED: ("neutral", "ban", "Not installed", "The store had uninstalled the app by then.", "Uninstalled"),
    Cause.APP_SUSPENDED: ("bad", "ban", "App suspended", "The app was suspended. Nothing is sent then, and nothing is kept for later.", "Suspended"),
    Cause.SCOPE_MISSING: ("bad", "lock", "Scope missing", "The install lacks the scope {scope}, so it doesn't receive {event}.", ""),
    Cause.SCOPE_GRANTED_LATER: ("bad", "lock", "Scope missing", "The install didn't have the scope {scope} at that time.", "Granted"),
    Cause.NOTHING_HAPPENED: ("neutral", "minus", "Nothing happened", "There was no {event} in this store within 15 minutes of that time.", ""),
    Cause.NO_WEBHOOK: ("bad", "webhook", "No endpoint", "It happened, but the install had no webhook endpoint.", ""),
    Cause.REGISTERED_LATER: ("neutral", "clock", "Added later", "The endpoint was added after the event.", "Added"),
    Cause.DELETED: ("neutral", "trash-2", "Deleted", "The endpoint had been deleted by then.", "Deleted"),
    Cause.NOT_SUBSCRIBED: ("bad", "bell", "Not subscribed", "The endpoint doesn't list {event}. Edit its events.", ""),
    Cause.SWITCHED_OFF: ("bad", "pause", "Endpoint paused", "Events aren't recorded for an endpoint that the app has paused. Resume it.", ""),
    Cause.FILTERED: ("neutral", "filter", "Filtered", "The endpoint's filter asks for {condition}, and this event doesn't have it.", ""),
    Cause.NOT_LISTENING_THEN: ("bad", "pause", "Not listening then", "At that time the endpoint was paused, it didn't list {event}, or it had another filter.", ""),
    Cause.HELD_DISABLED: ("warn", "power", "Held", "We disabled the endpoint because it kept failing. Enable it, then resend what is held.", ""),
    Cause.HELD_PAUSED: ("warn", "pause", "Held", "The store has paused the app. The delivery is sent when the store resumes it.", ""),
    Cause.CANCELLED: ("neutral", "ban", "Not sent", "It was cancelled before it was sent: the endpoint or the app was switched off, deleted or uninstalled.", "Cancelled"),
    Cause.WAITING: ("info", "clock", "Waiting", "It is waiting to be sent.", "Due"),
    Cause.RETRYING: ("warn", "rotate-cw", "Retrying", "Your endpoint didn't accept it. It is retried.", "Next attempt"),
    Cause.DELIVERED: ("ok", "check", "Delivered", "Your endpoint returned 2xx.", "Answered"),
    Cause.EXHAUSTED: ("bad", "circle-x", "Failed", "Your endpoint accepted no attempt.", "Last attempt"),
}  # fmt: skip


def explained(reason: Reason, event_type: str) -> Explained:
    kind, icon, label, sentence, time_name = _WORDS[reason.cause]
    scope = EVENTS[event_type].scope or ""
    filled = (
        sentence.replace("{event}", event_type)
        .replace("{scope}", scope)
        .replace("{condition}", reason.condition)
    )
    return Explained(reason, kind, icon, label, filled, time_name)


class Act(NamedTuple):
    """The button below a reason: a link, or the form that sends a test event. `changes` is not for viewers."""

    label: str
    url: str = ""
    changes: bool = True


def act_of(reason: Reason, app: App, *, is_own: bool) -> Act | None:
    """Endpoints are edited, and test events sent, in the person's own sandbox alone."""
    webhook = reason.webhook
    if reason.delivery:
        return Act("View delivery", address("portal:delivery", app.slug, reason.delivery.pk), changes=False)
    if not is_own:
        return None
    if webhook and not webhook.deleted_at and reason.cause != Cause.REGISTERED_LATER:
        return Act("Edit endpoint", address("portal:webhook_edit", app.slug, webhook.pk))
    match reason.cause:
        case Cause.NO_WEBHOOK:
            return Act("Add endpoint", address("portal:webhook_add", app.slug))
        case Cause.SCOPE_MISSING | Cause.SCOPE_GRANTED_LATER:
            page = address("portal:app_edit", app.slug, "access")
            return Act("Edit scopes", f"{page}#id_scopes", changes=False)
        case Cause.NOTHING_HAPPENED:
            return Act("Send test event")
        case _:
            return None
