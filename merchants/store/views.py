"""What holds for the whole store."""

from typing import Any, cast

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.services.businesses import BusinessChanges
from common.errors import Conflict, Invalid
from common.web.forms.pages import add_service_errors
from common.web.methods import require_safe
from merchants.access import MerchantRequest, merchant_page
from merchants.constants import GET_OR_POST, UNPROCESSABLE
from merchants.store.forms import StoreForm
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
