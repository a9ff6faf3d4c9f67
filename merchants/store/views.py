"""The store's first page, what holds for all of it, notices about apps, and the stores of a merchant."""

from typing import Any, cast

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.forms import NoticesForm
from accounts.models import Business
from accounts.services.businesses import BusinessChanges
from accounts.services.profile import choose_mails
from common.errors import Conflict, Invalid
from common.web.forms import add_service_errors
from common.web.methods import require_safe
from merchants.access import MerchantRequest, merchant_page, merchants_only, own_business, switch_to
from merchants.attention import concerns_of, recent_news
from merchants.constants import GET_OR_POST, UNPROCESSABLE
from merchants.store import overview
from merchants.store.forms import BusinessForm, StoreForm
from merchants.store.queries import today
from stores import queries
from stores.addresses import store_url
from stores.services.settings import (
    WIRE_NAMES,
    Look,
    change_business,
    change_look,
    currency_is_fixed,
    mark_seen,
)

COLUMNS = {wire: column for column, wire in WIRE_NAMES.items()}
OF_BUSINESS = BusinessChanges.__annotations__.keys()


@require_http_methods(GET_OR_POST)
@merchant_page
def settings(request: MerchantRequest) -> HttpResponse:
    current = queries.store_settings(request.business)
    form = StoreForm(
        *((request.POST, request.FILES) if request.method == "POST" else ()),
        business=request.business,
        current=current,
        currency_is_fixed=currency_is_fixed(request.business),
    )
    if form.is_valid():
        try:
            _save(request, form)
        except (Invalid, Conflict) as error:
            add_service_errors(form, error, names=COLUMNS, conflict="currency")
            request.business.refresh_from_db()  # the frame shows what is saved
        else:
            messages.success(request, "Saved.")
            return redirect("merchants:store")
    context = {"form": form, "current": current}
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "merchants/store/store.html", context, status=status)


@require_safe
@merchant_page
def view(request: MerchantRequest) -> HttpResponse:
    """The store as shoppers see it. The first visit ticks a step of a new store."""
    mark_seen(request.business)
    return redirect(store_url(request.business.slug))


def _save(request: MerchantRequest, form: StoreForm) -> None:
    changes = form.changes
    for name in ("logo", "hero_picture"):
        if changes.pop(f"remove_{name}", False):
            changes.setdefault(name, None)
    if "hero_picture" in changes:
        changes["hero_alt"] = form.cleaned_data["hero_alt"]
    of_business = {name: value for name, value in changes.items() if name in OF_BUSINESS}
    look = {name: value for name, value in changes.items() if name not in OF_BUSINESS}
    with transaction.atomic():
        if look:
            change_look(business=request.business, **cast(Look, look))
        if of_business:
            change_business(business=request.business, **cast(Any, of_business))


SHOWN = 5


@require_safe
@merchant_page
def home(request: MerchantRequest) -> HttpResponse:
    """What needs attention, today's figures and the last days, the newest orders, and apps."""
    business, apps = request.business, request.apps
    figures, orders = today(business), overview.newest_orders(business)
    context = {
        "today": figures,
        "week": overview.week_of(business),
        "orders": orders,
        "concerns": [*concerns_of(apps), *overview.store_concerns(figures)],
        "steps": overview.first_steps(business, has_apps=bool(apps)),
        "apps": apps[:SHOWN],
    }
    return render(request, "merchants/store/home.html", context)


@require_http_methods(GET_OR_POST)
@merchant_page
def notices(request: MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    chooses = request.method == "POST" and request.user.is_merchant
    form = NoticesForm(request.POST if chooses else None, user=request.user)
    if chooses and form.is_valid():
        choose_mails(user=request.user, wanted=form.cleaned_data["mails"])
        messages.success(request, "Saved.")
        return redirect("merchants:notices")
    context = {
        "form": form,
        "concerns": concerns_of(request.apps),
        "news": recent_news(request.business),
    }
    return render(
        request, "merchants/store/notices.html", context, status=UNPROCESSABLE if form.errors else 200
    )


@require_safe
@merchants_only
def business_list(request: MerchantRequest) -> HttpResponse:
    businesses = Business.objects.owned_by(request.user).order_by("created_at", "id")
    return render(request, "merchants/store/businesses.html", {"businesses": businesses})


@require_http_methods(GET_OR_POST)
@merchants_only
def business_add(request: MerchantRequest) -> HttpResponse:
    form = BusinessForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid() and (made := form.open_for(request.user)):
        switch_to(request, made)
        messages.success(request, f"{made.name} created.")
        return redirect("merchants:home")
    status = UNPROCESSABLE if form.is_bound else 200
    return render(request, "merchants/store/business_add.html", {"form": form}, status=status)


@require_POST
@merchants_only
def business_switch(request: MerchantRequest) -> HttpResponse:
    switch_to(request, own_business(request.user, request.POST.get("business")))
    return redirect("merchants:home")
