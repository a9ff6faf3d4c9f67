"""A merchant's businesses: which there are, another one, and which the pages show."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Business
from common.web.methods import require_safe
from common.web.own_pages import is_own_page
from merchants.access import MerchantRequest, merchants_only, own_business, switch_to
from merchants.store.forms import BusinessForm

UNPROCESSABLE = 422


@require_safe
@merchants_only
def business_list(request: MerchantRequest) -> HttpResponse:
    businesses = Business.objects.owned_by(request.user).order_by("created_at", "id")
    return render(request, "merchants/store/businesses.html", {"businesses": businesses})


@require_http_methods(["GET", "HEAD", "POST"])
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
    """Body: `business`, and `next`, a page to go on with."""
    switch_to(request, own_business(request.user, request.POST.get("business")))
    page = request.POST.get("next", "")
    return redirect(page if is_own_page(page, request) else "merchants:home")
