"""Sending an event with sample data to the sandbox."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from common.errors import ServiceError
from developers.delivery_forms import TestEventForm
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks.services.samples import send_sample


@require_http_methods(GET_OR_POST)
@app_page
def test_event(request: HttpRequest, app: App) -> HttpResponse:
    """Asks which event; then shows its deliveries in the list."""
    developer = current_developer(request)
    form = TestEventForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        return _send(request, app, form.cleaned_data["event"])
    context = {
        "app": app,
        "form": form,
        "installation": sandbox_installation(app=app, developer=developer),
    }
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "developers/test_event.html", context, status=status)


def _send(request: HttpRequest, app: App, event_type: str) -> HttpResponse:
    try:
        event, deliveries = send_sample(app=app, developer=current_developer(request), event_type=event_type)
    except ServiceError as error:
        messages.error(request, error.message)
        return redirect("portal:test_event", app.slug)
    if not deliveries:
        messages.warning(request, NOBODY.format(event=event_type))
        return redirect("portal:test_event", app.slug)
    messages.success(request, f"{event_type} is on its way to {_endpoints(deliveries)}.")
    return redirect(f"{resolve_url('portal:deliveries', app.slug)}?q={event.pk}")


def _endpoints(count: int) -> str:
    return "1 endpoint" if count == 1 else f"{count} endpoints"


NOBODY = (
    "Nothing was sent: no active webhook on your sandbox is registered for {event}, or the install does not hold "
    "the scope that the event needs."
)
