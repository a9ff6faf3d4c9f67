"""Trying an app on a copy of one's store: the press, the page that waits for the copy, and what the bar of the copy does (contract, section 21)."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts.models import Business
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotFound
from common.web.forms.pages import done
from common.web.methods import require_safe
from installations.models import Trial
from marketplace import listing
from marketplace.listing import authorize_address
from marketplace.models import App
from merchants.access import MerchantRequest, merchant_area, merchant_page, switch_to
from teststores import trials

LOOKS_EVERY: Final = timedelta(seconds=1)


@require_POST
@merchant_area
def start(request: MerchantRequest, slug: str) -> HttpResponse:
    """Body: `business`, where the person manages several. Leads to a page that waits for the copy."""
    app = listing.listed().filter(slug=slug).first()
    if app is None:
        raise Http404("This app is not in the marketplace.")
    store = _store(request)
    try:
        trial = trials.start(app=app, store=store, person=request.user)
    except Conflict as conflict:
        return _refused(request, app, store, conflict)
    return redirect("merchants:trial", trial.pk)


def _store(request: MerchantRequest) -> Business:
    wanted = request.POST.get("business", "")
    stores = [each for each in request.businesses if each.copy_of_id is None]
    if not wanted and len(stores) == 1:
        return stores[0]
    found = next((each for each in stores if str(each.pk) == wanted), None)
    if found is None:
        raise Invalid.field("business", "Choose one of your stores.")
    return found


def _refused(request: MerchantRequest, app: App, store: Business, conflict: Conflict) -> HttpResponse:
    """409, with the button that ends the other trial."""
    request.form_about = str(store.pk)
    context = {"app": app, "conflict": conflict, "trial": trials.open_trial_of(store)}
    return render(request, "merchants/trials/refused.html", context, status=conflict.status)


@require_safe
@never_cache
@merchant_area
def wait(request: MerchantRequest, trial_id: UUID) -> HttpResponse:
    """Leads to the consent page for the copy once it is made. After a minute it says that there is none."""
    stores = [each.pk for each in request.businesses]
    rows = Trial.objects.select_related("app__approved_version", "store", "copy")
    trial = get_or_not_found(rows.filter(store__in=stores), trial_id, "Trial not found")
    if trial.ended_at is None and trial.copy is not None:
        copy = next((each for each in request.businesses if each.pk == trial.copy_id), None)
        if copy is None:
            raise NotFound("Trial not found")
        switch_to(request, copy)
        assert trial.app.approved_version is not None
        url = trial.app.approved_version.redirect_url
        return redirect(authorize_address(trial.app, redirect_url=url, business_id=copy.pk))
    waits = trial.waits(timezone.now())
    context = {"trial": trial, "waits": waits, "looks_every": LOOKS_EVERY // timedelta(seconds=1)}
    return render(request, "merchants/trials/wait.html", context)


@require_POST
@merchant_page
def back(request: MerchantRequest) -> HttpResponse:
    """From the copy to its store."""
    copy = request.business
    store = next((each for each in request.businesses if each.pk == copy.copy_of_id), None)
    if store is not None:
        switch_to(request, store)
    return redirect("merchants:home")


@require_POST
@merchant_page
def open_copy(request: MerchantRequest) -> HttpResponse:
    """From the store to its copy, while there is one."""
    copy = next((each for each in request.businesses if each.copy_of_id == request.business.pk), None)
    if copy is None:
        raise NotFound("The trial has ended.")
    switch_to(request, copy)
    return redirect("merchants:installed")


@require_POST
@merchant_page
def end(request: MerchantRequest) -> HttpResponse:
    """End the trial of this store, or of this copy."""
    store_id = request.business.copy_of_id or request.business.pk
    trial = Trial.objects.open().select_related("app__approved_version").filter(store=store_id).first()
    if trial is None:
        raise Conflict("The trial has ended already.")
    trials.end(trial)
    request.businesses = [each for each in request.businesses if each.pk != trial.copy_id]
    store = next(each for each in request.businesses if each.pk == store_id)
    switch_to(request, store)
    name = trial.app.approved_version.name if trial.app.approved_version else "The app"
    return done(
        request,
        f"The trial has ended. {name} is asked to erase what it has of the copy.",
        "merchants:installed",
    )
