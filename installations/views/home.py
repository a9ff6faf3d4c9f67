"""Where a merchant begins."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.merchant_pages import MerchantRequest, merchant_page
from installations.queries import installations_of

SHOWN = 5


@require_safe
@merchant_page
def home(request: MerchantRequest) -> HttpResponse:
    active = installations_of(request.business).active()
    context = {"installations": list(active[:SHOWN]), "total": active.count()}
    return render(request, "merchant/home.html", context)
