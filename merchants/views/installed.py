"""Installed and uninstalled apps of a business, with permissions, switches and activity."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from common.web.pagination import page_request
from extensions.reach_requests import asking, with_requests
from extensions.services.extension_states import change_controls
from extensions.switches import controls_of
from installations.models import Installation
from installations.queries import granted_by, history_of, installations_of
from marketplace.scopes import SCOPES
from merchants.access import MerchantRequest, active_page, merchant_page
from merchants.call_descriptions import deeds_of
from merchants.consent_question import question_of
from merchants.controls_form import ControlsForm


@require_safe
@merchant_page
def installed(request: MerchantRequest) -> HttpResponse:
    """Open requests come first."""
    of_business = installations_of(request.business)
    installations = list(with_requests(of_business.active()))
    past = of_business.exclude(uninstalled_at=None).order_by("-uninstalled_at", "-id")
    wanted = page_request(request.GET, default=20)
    context = {
        "installations": installations,
        "questions": [question_of(each) for each in asking(of_business)],
        "past": past[wanted.window],
        "past_total": past.count(),
        "page_request": wanted,
    }
    return render(request, "merchants/installed.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def installation(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What the app may do in the store, with its switches; POST saves them."""
    form = ControlsForm(controls_of(installation), request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        change_controls(installation=installation, **form.changes)
        messages.success(request, "Saved.")
        return redirect("merchants:installation", installation.pk)
    entries = granted_by(installation)
    context = {
        "form": form,
        "installation": installation,
        "question": question_of(installation),
        "granted": [(SCOPES[name], entries.get(name)) for name in installation.effective_scopes],
    }
    return render(request, "merchants/installation.html", context, status=422 if form.is_bound else 200)


@require_safe
@active_page
def activity(request: MerchantRequest, installation: Installation) -> HttpResponse:
    deeds, is_cut = deeds_of(installation)
    context = {
        "installation": installation,
        "history": history_of(installation).reverse(),
        "deeds": deeds,
        "is_cut": is_cut,
    }
    return render(request, "merchants/activity.html", context)
