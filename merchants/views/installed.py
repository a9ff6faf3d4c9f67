"""Installed and uninstalled apps of a business, with permissions, switches and activity."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.web.methods import require_safe
from common.web.pagination import page_request
from extensions.services.extension_states import change_controls
from extensions.switches import controls_of
from installations.models import Installation
from installations.queries import granted_by, history_of, installations_of
from marketplace.scopes import SCOPES
from merchants.access import MerchantRequest, active_page, merchant_page
from merchants.app_activity import done_by
from merchants.attention import apps_now
from merchants.consent_question import question_of
from merchants.controls_form import ControlsForm
from merchants.hook_descriptions import at_checkout
from merchants.store_cost import cost_of


@require_safe
@merchant_page
def installed(request: MerchantRequest) -> HttpResponse:
    """Open requests come first."""
    apps = apps_now(request)
    past = installations_of(request.business).exclude(uninstalled_at=None).order_by("-uninstalled_at", "-id")
    wanted = page_request(request.GET, default=20)
    context = {
        "installations": apps.installations,
        "questions": [question_of(each) for each in apps.asking],
        "past": past[wanted.window],
        "past_total": past.count(),
        "page_request": wanted,
    }
    return render(request, "merchants/installed.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def installation(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What the app needs and did, what it costs and may do, with its switches; POST saves them."""
    form = ControlsForm(controls_of(installation), request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        change_controls(installation=installation, **form.changes)
        messages.success(request, "Saved.")
        return redirect("merchants:installation", installation.pk)
    entries = granted_by(installation)
    parts = at_checkout(installation)
    context = {
        "form": form,
        "done": done_by(installation, parts),
        "cost": cost_of(installation, parts),
        "installation": installation,
        "question": question_of(installation),
        "granted": [(SCOPES[name], entries.get(name)) for name in installation.effective_scopes],
    }
    return render(request, "merchants/installation.html", context, status=422 if form.is_bound else 200)


@require_safe
@active_page
def activity(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """The installation's history, newest first."""
    context = {"installation": installation, "history": history_of(installation).reverse()}
    return render(request, "merchants/activity.html", context)
