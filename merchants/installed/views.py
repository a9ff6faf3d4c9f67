"""Installed and uninstalled apps of a business, with permissions, switches and activity."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from activity.use_in_stores import with_last_uses
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from extensions.in_store.switches import choices_of, controls_of
from extensions.services.extension_states import change_controls
from installations.queries import granted_by, history_of, installations_of
from merchants.access import MerchantRequest, app_page, merchant_page
from merchants.consent.question import question_of
from merchants.installed.activity import activity_of
from merchants.installed.app import InstalledApp
from merchants.installed.controls_form import ControlsForm
from merchants.installed.grants import grants_of
from merchants.installed.hook_descriptions import at_checkout
from merchants.installed.store_cost import cost_of


@require_safe
@merchant_page
def installed(request: MerchantRequest) -> HttpResponse:
    """Open requests come first."""
    of_business = installations_of(request.business)
    past = of_business.exclude(uninstalled_at=None).order_by("-uninstalled_at", "-id")
    wanted = page_request(request.GET, default=20)
    asking = [each for each in request.apps if each.status.asks]
    context = {
        "questions": [question_of(each, granted_by(each.installation), with_use=True) for each in asking],
        "past": past[wanted.window],
        "past_total": past.count(),
        "page_request": wanted,
    }
    return render(request, "merchants/installed/installed.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def installation(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """What the app needs and did, what it costs and may do, with its switches; POST saves them."""
    installation, choices = app.installation, choices_of(app.installation)
    controls = controls_of(choices, app.definitions)
    form = ControlsForm(controls, typed(request))

    def save() -> HttpResponse:
        change_controls(installation=installation, **form.changes)
        return done(request, "Saved.", "merchants:installation", installation.pk)

    if response := saved(request, form, save):
        return response
    entries = granted_by(installation, with_last_uses(history_of(installation)))
    parts = at_checkout(app, choices.off)
    context = {
        "app": app,
        "form": form,
        "activity": activity_of(installation, parts),
        "cost": cost_of(app, parts, choices.off),
        "installation": installation,
        "question": question_of(app, entries),
        "grants": grants_of(installation, entries),
    }
    return form_page(request, "merchants/installed/installation.html", context)


@require_safe
@app_page
def activity(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """The installation's history, newest first."""
    history = history_of(app.installation).reverse()
    context = {"app": app, "installation": app.installation, "history": history}
    return render(request, "merchants/installed/activity.html", context)
