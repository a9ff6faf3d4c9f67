"""Why didn't it arrive? The reason for an event, a store and a time."""

from typing import Any, Final

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.access import is_own_sandbox
from accounts.models import Business, User
from accounts.times import in_zone
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries.arrival_descriptions import explained
from developers.portal.deliveries.forms import MAX_CHOICES
from developers.portal.filter_forms import MomentField
from marketplace.models import App
from webhooks.catalogue import ERASURES, SUBSCRIBABLE
from webhooks.services.explaining import explain

EVENTS: Final = [name for name in SUBSCRIBABLE if name not in ERASURES]


class ArrivalForm(forms.Form):
    event = forms.ChoiceField(choices=[(name, name) for name in EVENTS], label="Event")
    store = forms.ModelChoiceField(Business.objects.none(), label="Store", empty_label=None)
    at = MomentField(label=in_zone("Time"))

    def __init__(self, data: Any, *, stores: Any) -> None:
        super().__init__(data)
        field: Any = self.fields["store"]
        field.queryset = stores
        field.label_from_instance = lambda store: store.name
        field.choices = [(str(store.pk), store.name) for store in stores[:MAX_CHOICES]]


def _stores(app: App) -> Any:
    """Stores that have or had the app, sandbox stores first, the newest before older ones."""
    ids = app.installations.values("business")
    return Business.objects.filter(pk__in=ids).order_by("-is_sandbox", "-id")


@require_safe
@app_page
def why(request: HttpRequest, app: App) -> HttpResponse:
    """Never cached, because it shows a store's events."""
    stores = _stores(app)
    first = stores.first()
    asked = any(name in request.GET for name in ("event", "store", "at"))
    given = {
        "event": request.GET.get("event") or "order.created",
        "store": request.GET.get("store") or (first.pk if first else ""),
        "at": request.GET.get("at") or timezone.localtime().strftime("%Y-%m-%dT%H:%M"),
    }
    form = ArrivalForm(given, stores=stores)
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
    reasons = explain(app=app, business=store, event_type=event_type, at=asked["at"])
    return {
        "reasons": [explained(each, event_type) for each in reasons],
        "event_type": event_type,
        "store": store,
        "asked_at": asked["at"],
        "is_own_sandbox": is_own_sandbox(store, person),
    }
