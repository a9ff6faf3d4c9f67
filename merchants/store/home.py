"""Where a merchant begins."""

from django.http import HttpResponse
from django.shortcuts import redirect, render

from common.web.methods import require_safe
from merchants.access import MerchantRequest, orders_page
from merchants.attention import concerns_of
from merchants.store import overview
from merchants.store.queries import waiting_in
from merchants.store.sales import RANGES, sales_of

SHOWN = 5


@require_safe
@orders_page
def home(request: MerchantRequest) -> HttpResponse:
    """What needs attention, the sales of the last days (`days`: 7, 30 or 90), the newest orders, and apps.

    Who only works with orders begins at these.
    """
    if not request.manages:
        return redirect("merchants:orders")
    business, apps = request.business, request.apps
    chosen = request.GET.get("days", "")
    days = int(chosen) if chosen in map(str, RANGES) else RANGES[0]
    sales = sales_of(business, days=days)
    context = {
        "sales": sales,
        "chart": sales.chart(business),
        "ranges": RANGES,
        "orders": overview.newest_orders(business),
        "concerns": [*concerns_of(apps), *overview.store_concerns(waiting_in(business))],
        "steps": overview.first_steps(business, has_apps=bool(apps)),
        "apps": apps[:SHOWN],
    }
    return render(request, "merchants/store/home.html", context)
