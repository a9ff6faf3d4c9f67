"""Uninstalling an app, and the receipt of an installation."""

from contextlib import suppress
from datetime import timedelta

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from common.errors import Conflict
from common.web.forms.kept import typed
from common.web.forms.pages import form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from extensions.in_store.capabilities import placed
from installations import services
from installations.enums import HistoryKind
from installations.models import Installation
from installations.queries import granted_by, history_of
from marketplace.scopes import SCOPES
from merchants.access import MerchantRequest, app_page, installation_page
from merchants.installed.app import InstalledApp
from webhooks.queries import erasure_story


class UninstallForm(forms.Form):
    reason = forms.CharField(
        label="Why do you uninstall it?",
        required=False,
        max_length=200,
        help_text="One line. The app’s developer reads it, with the name of your store.",
    )


@require_http_methods(GET_OR_POST)
@app_page
def uninstall(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """Says what is removed now and later, and asks. Pressing twice uninstalls once."""
    installation = app.installation
    form = UninstallForm(typed(request))
    if response := saved(
        request, form, lambda: _uninstall(request, installation, form.cleaned_data["reason"])
    ):
        return response
    context = {
        "form": form,
        "app": app,
        "installation": installation,
        "placed": placed(installation),
        "scopes": [SCOPES[name] for name in installation.effective_scopes],
        "erasure_at": timezone.now() + timedelta(seconds=settings.DATA_ERASURE_DELAY),
    }
    return form_page(request, "merchants/installed/uninstall.html", context)


def _uninstall(request: MerchantRequest, installation: Installation, reason: str) -> HttpResponse:
    with suppress(Conflict):  # it has already ended; the receipt shows it
        services.uninstall(installation=installation, by=request.user, reason=reason)
    return redirect("merchants:receipt", installation.pk)


@require_safe
@installation_page
def receipt(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What was granted, by whom and when, what ended, and the state of the data erasure. Kept forever."""
    history = list(history_of(installation))
    ended = next((entry for entry in history if entry.kind == HistoryKind.UNINSTALLED), None)
    held = ended.scopes if ended else installation.effective_scopes
    entries = granted_by(installation)
    context = {
        "installation": installation,
        "granted": [(SCOPES[name], entries.get(name)) for name in held],
        "history": history,
        "ended": ended,
        "now": timezone.now(),
        "story": erasure_story(installation),
    }
    return render(request, "merchants/receipt.html", context)
