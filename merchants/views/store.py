"""What holds for the whole store."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from merchants.access import MerchantRequest, merchant_page
from merchants.forms import StoreForm
from merchants.views import GET_OR_POST, UNPROCESSABLE
from stores.enums import DeliveryMethod
from stores.queries import delivery_fee
from stores.services.settings import set_delivery_fee


@require_http_methods(GET_OR_POST)
@merchant_page
def settings(request: MerchantRequest) -> HttpResponse:
    """The delivery fee, beside what was chosen when the business was opened."""
    form = StoreForm(
        request.POST if request.method == "POST" else None,
        business=request.business,
        initial={"delivery_fee": delivery_fee(request.business, DeliveryMethod.DELIVERY)},
    )
    if form.is_valid():
        set_delivery_fee(business=request.business, fee=form.cleaned_data["delivery_fee"])
        messages.success(request, "Saved.")
        return redirect("merchants:store")
    status = UNPROCESSABLE if form.errors else 200
    return render(request, "merchants/store/store.html", {"form": form}, status=status)
