"""The merchant's page about what an installed app does at the checkout."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.merchant_pages import MerchantRequest
from common.forms import RadioLines
from extensions.hooks import breaker, health
from extensions.hooks.merchant_words import at_checkout
from installations.models import Installation
from installations.views.access import active_page
from stores.hookpoints import HookPoint


class RefusalForm(forms.Form):
    """The merchant's choice about orders that the app could not check."""

    unchecked = forms.ChoiceField(
        label="When it can't check an order",
        choices=[
            ("take", "Take the order, and mark it as not checked"),
            ("refuse", "Refuse the order, and ask the buyer to try again in a few minutes"),
        ],
        widget=RadioLines,
    )


@require_safe
@active_page
def checkout(request: MerchantRequest, installation: Installation) -> HttpResponse:
    refuses = health.refuses_unvalidated(installation)
    context = {
        "installation": installation,
        "parts": at_checkout(installation, refuses=refuses),
        "form": RefusalForm(initial={"unchecked": "refuse" if refuses else "take"}),
    }
    return render(request, "merchant/checkout.html", context)


@require_POST
@active_page
def refusal(request: MerchantRequest, installation: Installation) -> HttpResponse:
    health.own_hook(installation.app, HookPoint.VALIDATE)
    form = RefusalForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose what is to happen with an order that the app can't check.")
        return redirect("hooks:checkout", installation.pk)
    refuse = form.cleaned_data["unchecked"] == "refuse"
    health.prefer_refusal(installation=installation, refuse=refuse)
    messages.success(request, REFUSED if refuse else TAKEN)
    return redirect("hooks:checkout", installation.pk)


REFUSED = "Orders that this app can't check are refused from now on."
TAKEN = "Orders that this app can't check are taken from now on, and marked."


@require_POST
@active_page
def reset(request: MerchantRequest, installation: Installation, point: str) -> HttpResponse:
    """Have the app asked again at once."""
    definition = health.own_hook(installation.app, point)
    breaker.reset(installation=installation, definition=definition)
    messages.success(request, "The app is asked again from the next checkout on.")
    return redirect("hooks:checkout", installation.pk)
