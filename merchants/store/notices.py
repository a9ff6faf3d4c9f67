"""What needs the merchant's attention, what happened with apps lately, and which of it is mailed."""

from typing import Any

from django import forms
from django.forms import BoundField
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from accounts.enums import Frequency, StoreNotice
from accounts.forms import NoticesForm
from accounts.models import User
from accounts.services.profile import choose_frequencies, choose_mails, frequency_of
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from merchants.access import MerchantRequest, merchant_page
from merchants.attention import concerns_of, recent_news
from stores.services.merchant_mails import choices_changed


class MerchantNoticesForm(NoticesForm):
    """The person's mails about apps, and how often each kind of notice about their stores is mailed."""

    def __init__(self, data: Any, *, user: User) -> None:
        super().__init__(data, user=user)
        for kind in StoreNotice:
            self.fields[kind.value] = forms.ChoiceField(
                label=kind.label, choices=Frequency.choices, initial=frequency_of(user, kind).value
            )

    @property
    def how_often(self) -> list[BoundField]:
        return [self[kind.value] for kind in StoreNotice]

    def save(self, user: User) -> None:
        changes = self.changes
        if "mails" in changes:
            choose_mails(user=user, wanted=changes["mails"])
        chosen = {kind: Frequency(changes[kind.value]) for kind in StoreNotice if kind.value in changes}
        if chosen:
            choose_frequencies(user=user, chosen=chosen)
            choices_changed(owner=user)


@require_http_methods(GET_OR_POST)
@merchant_page
def notices(request: MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    form = MerchantNoticesForm(typed(request) if request.user.is_merchant else None, user=request.user)

    def save() -> HttpResponse:
        form.save(request.user)
        return done(request, "Saved.", "merchants:notices")

    if response := saved(request, form, save):
        return response
    context = {"form": form, "concerns": concerns_of(request.apps), "news": recent_news(request.business)}
    return form_page(request, "merchants/store/notices.html", context)
