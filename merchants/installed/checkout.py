"""What an installed app does at checkout."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from common.web.forms.widgets import RadioLines
from common.web.methods import require_safe
from extensions.hooks import breaker, health
from extensions.in_store.switches import switched_off
from installations.models import Installation
from merchants.access import MerchantRequest, active_page, app_page
from merchants.installed.app import InstalledApp
from merchants.installed.hook_descriptions import at_checkout
from stores.hookpoints import BUDGET_SECONDS, HookPoint


class RefusalForm(forms.Form):
    """What to do with orders that the app could not check."""

    unchecked = forms.ChoiceField(
        label="If it can't check an order",
        choices=[
            ("take", "Accept the order and mark it as not checked"),
            ("refuse", "Refuse the order and ask the buyer to try again in a few minutes"),
        ],
        widget=RadioLines,
    )


@require_safe
@app_page
def checkout(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    refuses = health.refuses_unvalidated(app.installation)
    context = {
        "app": app,
        "installation": app.installation,
        "budget": f"{BUDGET_SECONDS:g} seconds",
        "parts": at_checkout(app, switched_off(app.installation), refuses=refuses),
        "form": RefusalForm(initial={"unchecked": "refuse" if refuses else "take"}),
    }
    return render(request, "merchants/installed/checkout.html", context)


@require_POST
@active_page
def refusal(request: MerchantRequest, installation: Installation) -> HttpResponse:
    health.own_hook(installation.app, HookPoint.VALIDATE)
    form = RefusalForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose what happens to orders that the app can't check.")
        return redirect("merchants:checkout", installation.pk)
    refuse = form.cleaned_data["unchecked"] == "refuse"
    health.prefer_refusal(installation=installation, refuse=refuse)
    messages.success(request, REFUSED if refuse else TAKEN)
    return redirect("merchants:checkout", installation.pk)


REFUSED = "From now on, orders that this app can't check are refused."
TAKEN = "From now on, orders that this app can't check are accepted and marked."


@require_POST
@active_page
def reset(request: MerchantRequest, installation: Installation, point: str) -> HttpResponse:
    """Close the breaker, so that the next checkout calls the app."""
    definition = health.own_hook(installation.app, point)
    breaker.reset(installation=installation, definition=definition)
    messages.success(request, "The next checkout calls the app again.")
    return redirect("merchants:checkout", installation.pk)
