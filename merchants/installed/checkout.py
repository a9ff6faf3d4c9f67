"""What an installed app does at checkout."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.web.forms.edits import EditForm
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.forms.widgets import RadioLines
from common.web.methods import GET_OR_POST, require_safe
from extensions.hooks import breaker, health
from extensions.in_store.switches import choices_of
from installations.models import Installation
from merchants.access import MerchantRequest, active_page, app_page
from merchants.installed.activity import works_since
from merchants.installed.app import InstalledApp
from merchants.installed.hook_descriptions import at_checkout
from stores.hookpoints import BUDGET_SECONDS, HookPoint
from webhooks.queries import delivery_health

TAKE, REFUSE = "take", "refuse"
REFUSED = "From now on, orders that this app can't check are refused."
TAKEN = "From now on, orders that this app can't check are accepted and marked."


class RefusalForm(EditForm):
    """What to do with orders that the app could not check."""

    unchecked = forms.ChoiceField(
        label="If it can't check an order",
        choices=[
            (TAKE, "Accept the order and mark it as not checked"),
            (REFUSE, "Refuse the order and ask the buyer to try again in a few minutes"),
        ],
        widget=RadioLines,
    )


@require_safe
@app_page
def checkout(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    return _page(request, app)


@require_http_methods(GET_OR_POST)
@app_page
def refusal(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    health.own_hook(app.installation.app, HookPoint.VALIDATE)
    data = typed(request)
    return redirect("merchants:checkout", app.installation.pk) if data is None else _page(request, app, data)


def _page(request: MerchantRequest, app: InstalledApp, data: QueryDict | None = None) -> HttpResponse:
    installation = app.installation
    refuses = health.refuses_unvalidated(installation)
    form = RefusalForm(data, initial={"unchecked": REFUSE if refuses else TAKE})

    def save() -> HttpResponse:
        message = "Saved."
        if form.changes:
            refuse = form.cleaned_data["unchecked"] == REFUSE
            health.prefer_refusal(installation=installation, refuse=refuse)
            message = REFUSED if refuse else TAKEN
        return done(request, message, "merchants:checkout", installation.pk)

    if response := saved(request, form, save):
        return response
    parts = at_checkout(app, choices_of(installation).off, refuses=refuses)
    context = {
        "app": app.dated(works_since(parts, delivery_health(installation, timezone.now()))),
        "installation": installation,
        "budget": f"{BUDGET_SECONDS:g} seconds",
        "parts": parts,
        "form": form,
    }
    return form_page(request, "merchants/installed/checkout.html", context)


@require_POST
@active_page
def reset(request: MerchantRequest, installation: Installation, point: str) -> HttpResponse:
    """Close the breaker, so that the next checkout calls the app."""
    definition = health.own_hook(installation.app, point)
    breaker.reset(installation=installation, definition=definition)
    messages.success(request, "The next checkout calls the app again.")
    return redirect("merchants:checkout", installation.pk)
