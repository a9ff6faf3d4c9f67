"""What needs the merchant's attention, what happened with apps lately, and which of it is mailed."""

from typing import Any

from django import forms
from django.forms import BoundField
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from accounts.enums import Frequency, StoreNotice
from accounts.forms import NoticesForm
from accounts.models import User
from accounts.services.profile import OF_ORDERS, choose_frequencies, choose_mails, frequency_of
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from merchants.access import MerchantRequest, orders_page
from merchants.attention import concerns_of, recent_news
from stores.services.merchant_mails import choices_changed


class MerchantNoticesForm(NoticesForm):
    """The person's mails about apps, and how often each kind of notice about their stores is mailed.

    Who doesn't manage the store chooses what is about its orders and reviews.
    """

    def __init__(self, data: Any, *, user: User, manages: bool) -> None:
        super().__init__(data, user=user)
        if not manages:
            del self.fields["mails"]
        self.kinds = tuple(StoreNotice) if manages else OF_ORDERS
        for kind in self.kinds:
            self.fields[kind.value] = forms.ChoiceField(
                label=kind.label, choices=Frequency.choices, initial=frequency_of(user, kind).value
            )

    @property
    def how_often(self) -> list[BoundField]:
        return [self[kind.value] for kind in self.kinds]

    def save(self, user: User) -> None:
        changes = self.changes
        if "mails" in changes:
            choose_mails(user=user, wanted=changes["mails"])
        chosen = {kind: Frequency(changes[kind.value]) for kind in self.kinds if kind.value in changes}
        if chosen:
            choose_frequencies(user=user, chosen=chosen)
            choices_changed(person=user)


@require_http_methods(GET_OR_POST)
@orders_page
def notices(request: MerchantRequest) -> HttpResponse:
    """POST saves which notices are mailed. A developer's choice of mails is on their profile."""
    form = MerchantNoticesForm(
        typed(request) if request.user.is_merchant else None, user=request.user, manages=request.manages
    )

    def save() -> HttpResponse:
        form.save(request.user)
        return done(request, "Saved.", "merchants:notices")

    if response := saved(request, form, save):
        return response
    context = {
        "form": form,
        "concerns": concerns_of(request.apps),
        "news": recent_news(request.business) if request.manages else (),
    }
    return form_page(request, "merchants/store/notices.html", context)
