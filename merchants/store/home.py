"""Where a merchant begins."""

from django.http import HttpResponse
from django.shortcuts import render

from common.web.methods import require_safe
from merchants.access import MerchantRequest, merchant_page
from merchants.attention import concerns_of
from merchants.store import overview
from merchants.store.queries import today

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
