"""What needs the merchant's attention, what happened with apps lately, and which of it is mailed."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.enums import Frequency, StoreNotice
from accounts.forms import NoticesForm
from accounts.models import User
from accounts.services.profile import choose_frequencies, choose_mails, frequency_of
from merchants.access import MerchantRequest, merchant_page
from merchants.attention import concerns_of, recent_news
from merchants.constants import GET_OR_POST, UNPROCESSABLE
from stores.services.merchant_mails import choices_changed


class StoreNoticesForm(forms.Form):
    """How often each kind of notice about the person's stores is mailed."""

    def __init__(self, data: Any = None, *, user: User) -> None:
        super().__init__(data)
        for kind in StoreNotice:
            self.fields[kind.value] = forms.ChoiceField(
                label=kind.label,
                choices=Frequency.choices,
                initial=frequency_of(user, kind).value,
            )

    def chosen(self) -> dict[StoreNotice, Frequency]:
        return {kind: Frequency(self.cleaned_data[kind.value]) for kind in StoreNotice}


@require_http_methods(GET_OR_POST)
@merchant_page
def notices(request: MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    chooses = request.method == "POST" and request.user.is_merchant
    data = request.POST if chooses else None
    form, store_form = NoticesForm(data, user=request.user), StoreNoticesForm(data, user=request.user)
    if chooses and form.is_valid() and store_form.is_valid():
        choose_mails(user=request.user, wanted=form.cleaned_data["mails"])
        choose_frequencies(user=request.user, chosen=store_form.chosen())
        choices_changed(owner=request.user)
        messages.success(request, "Saved.")
        return redirect("merchants:notices")
    context = {
        "form": form,
        "store_form": store_form,
        "concerns": concerns_of(request.apps),
        "news": recent_news(request.business),
    }
    return render(
        request,
        "merchants/store/notices.html",
        context,
        status=UNPROCESSABLE if form.errors or store_form.errors else 200,
    )
