"""What holds for the whole store."""

from typing import Any, cast

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from accounts.services.businesses import BusinessChanges
from common.errors import ServiceError
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from merchants.access import MerchantRequest, merchant_page
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

FIELDS = {wire: column for column, wire in WIRE_NAMES.items()}
OF_BUSINESS = BusinessChanges.__annotations__.keys()


@require_http_methods(GET_OR_POST)
@merchant_page
def settings(request: MerchantRequest) -> HttpResponse:
    current = queries.store_settings(request.business)
    form = StoreForm(
        typed(request),
        request.FILES or None,
        business=request.business,
        current=current,
        currency_is_fixed=currency_is_fixed(request.business),
    )
    if response := saved(request, form, lambda: _save(request, form), names=FIELDS, conflict="currency"):
        return response
    return form_page(request, "merchants/store/store.html", {"form": form, "current": current})


@require_safe
@merchant_page
def view(request: MerchantRequest) -> HttpResponse:
    """The store as shoppers see it. The first visit ticks a step of a new store."""
    mark_seen(request.business)
    return redirect(store_url(request.business.slug))


def _save(request: MerchantRequest, form: StoreForm) -> HttpResponse:
    changes = form.changes
    for name in ("logo", "hero_picture"):
        if changes.pop(f"remove_{name}", False):
            changes.setdefault(name, None)
    if "hero_picture" in changes:
        changes["hero_alt"] = form.cleaned_data["hero_alt"]
    of_business = {name: value for name, value in changes.items() if name in OF_BUSINESS}
    look = {name: value for name, value in changes.items() if name not in OF_BUSINESS}
    try:
        with transaction.atomic():
            if look:
                change_look(business=request.business, **cast(Look, look))
            if of_business:
                change_business(business=request.business, **cast(Any, of_business))
    except ServiceError:
        request.business.refresh_from_db()  # the frame shows what is saved
        raise
    return done(request, "Saved.", "merchants:store")
