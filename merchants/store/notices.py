"""What needs the merchant's attention, what happened with apps lately, and which of it is mailed."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from accounts.forms import NoticesForm
from accounts.services.profile import choose_mails
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from merchants.access import MerchantRequest, merchant_page
from merchants.attention import concerns_of, recent_news


@require_http_methods(GET_OR_POST)
@merchant_page
def notices(request: MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    form = NoticesForm(typed(request) if request.user.is_merchant else None, user=request.user)

    def save() -> HttpResponse:
        if form.changes:
            choose_mails(user=request.user, wanted=form.cleaned_data["mails"])
        return done(request, "Saved.", "merchants:notices")

    if response := saved(request, form, save):
        return response
    context = {"form": form, "concerns": concerns_of(request.apps), "news": recent_news(request.business)}
    return form_page(request, "merchants/store/notices.html", context)
