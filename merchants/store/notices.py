"""What needs the merchant's attention, what happened with apps lately, and which of it is mailed."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.forms import NoticesForm
from accounts.services.profile import choose_mails
from merchants.access import MerchantRequest, merchant_page
from merchants.attention import concerns_of, recent_news
from merchants.constants import GET_OR_POST, UNPROCESSABLE


@require_http_methods(GET_OR_POST)
@merchant_page
def notices(request: MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    chooses = request.method == "POST" and request.user.is_merchant
    form = NoticesForm(request.POST if chooses else None, user=request.user)
    if chooses and form.is_valid():
        choose_mails(user=request.user, wanted=form.cleaned_data["mails"])
        messages.success(request, "Saved.")
        return redirect("merchants:notices")
    context = {
        "form": form,
        "concerns": concerns_of(request.apps),
        "news": recent_news(request.business),
    }
    return render(
        request, "merchants/store/notices.html", context, status=UNPROCESSABLE if form.errors else 200
    )
