"""Where a merchant begins."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from extensions.reach_requests import with_requests
from installations.queries import installations_of
from merchants.access import MerchantRequest, merchant_page

SHOWN = 5


@require_safe
@merchant_page
def home(request: MerchantRequest) -> HttpResponse:
    active = installations_of(request.business).active()
    context = {"installations": list(with_requests(active)[:SHOWN]), "total": active.count()}
    return render(request, "merchants/home.html", context)
