"""Where a merchant begins."""

from django.http import HttpResponse
from django.shortcuts import render

from common.web.methods import require_safe
from merchants import overview
from merchants.access import MerchantRequest, merchant_page
from merchants.attention import apps_now
from merchants.store_queries import today

SHOWN = 5


@require_safe
@merchant_page
def home(request: MerchantRequest) -> HttpResponse:
    """What needs attention, today's figures and the last days, the newest orders, and apps."""
    business, apps = request.business, apps_now(request)
    figures, orders = today(business), overview.newest_orders(business)
    context = {
        "today": figures,
        "week": overview.week_of(business),
        "orders": orders,
        "concerns": [*apps.concerns, *overview.store_concerns(figures)],
        "steps": overview.first_steps(business, has_apps=bool(apps.installations)),
        "installations": apps.installations[:SHOWN],
        "total": len(apps.installations),
    }
    return render(request, "merchants/home.html", context)
