"""A merchant's businesses: which there are, another one, and which the pages show."""

from functools import partial

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.enums import StoreRole
from accounts.services import create_business
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved, sent_again
from common.web.methods import GET_OR_POST, require_safe
from common.web.own_pages import is_own_page
from merchants.access import MerchantRequest, merchants_only, own_business, switch_to
from merchants.store.forms import BusinessForm


@require_safe
@merchants_only
def business_list(request: MerchantRequest) -> HttpResponse:
    """Own ones first, and those in which the person works."""
    return render(request, "merchants/store/businesses.html")


@require_http_methods(GET_OR_POST)
@merchants_only
def business_add(request: MerchantRequest) -> HttpResponse:
    form = BusinessForm(typed(request))

    def save() -> HttpResponse:
        fields = {name: value for name, value in form.cleaned_data.items() if name != "form_token"}
        made = create_business(owner=request.user, **fields)
        made.store_role = StoreRole.OWNER
        switch_to(request, made)
        return done(request, f"{made.name} created.", "merchants:home")

    if response := saved(request, form, save, again=partial(sent_again, request, "merchants:businesses")):
        return response
    return form_page(request, "merchants/store/business_add.html", {"form": form})


@require_POST
@merchants_only
def business_switch(request: MerchantRequest) -> HttpResponse:
    """Body: `business`, and `next`, a page to go on with."""
    switch_to(request, own_business(request, request.POST.get("business")))
    page = request.POST.get("next", "")
    return redirect(page if is_own_page(page, request) else "merchants:home")
