"""Transferring an app: the owner offers it, and a developer of it accepts. Both with a fresh proof of who they are."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.sign_in.step_up import step_up
from common.errors import Conflict
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from developers.portal.access import (
    current_developer,
    developers_page,
    owners_page,
)
from marketplace.models import App
from marketplace.services import transfers
from marketplace.services.members import Member, members_of


class TransferForm(forms.Form):
    email = forms.ChoiceField(
        label="New owner",
        error_messages={
            "required": "Choose the new owner.",
            "invalid_choice": "Choose a developer of the app.",
        },
    )

    def __init__(self, *args: object, developers: list[Member]) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        field = self.fields["email"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            ("", "Choose…"),
            *((each.email, f"{each.name} ({each.email})") for each in developers),
        ]


@require_http_methods(GET_OR_POST)
@owners_page
@step_up
def transfer(request: HttpRequest, app: App) -> HttpResponse:
    developers = [each for each in members_of(app) if each.role == "DEVELOPER" and each.user_id]
    form = TransferForm(typed(request), developers=developers)

    def save() -> HttpResponse:
        offer = transfers.offer(app=app, by=current_developer(request), email=form.cleaned_data["email"])
        said = f"{app.name} is offered to {offer.address}. You stay its owner until they accept."
        return done(request, said, "portal:members", app.slug)

    if response := saved(request, form, save):
        return response
    context = {"app": app, "form": form, "developers": developers}
    return form_page(request, "developers/portal/members/transfer.html", context)


@require_POST
@owners_page
def transfer_withdraw(request: HttpRequest, app: App) -> HttpResponse:
    transfers.withdraw_offer(app=app, by=current_developer(request))
    messages.success(request, "The offer is withdrawn.")
    return redirect("portal:members", app.slug)


@require_http_methods(GET_OR_POST)
@developers_page
@step_up
def transfer_accept(request: HttpRequest, app: App) -> HttpResponse:
    if request.method == "POST":
        transfers.accept_transfer(app=app, by=current_developer(request))
        messages.success(request, f"{app.name} is yours now.")
        return redirect("portal:members", app.slug)
    if not transfers.is_offered_to(current_developer(request), app):
        raise Conflict(transfers.NOT_OFFERED)
    return render(request, "developers/portal/members/accept_transfer.html", {"app": app})
