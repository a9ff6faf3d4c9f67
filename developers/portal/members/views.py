"""The members of an app: who they are, inviting, changing roles, removing and leaving, and passing the app on."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import User
from accounts.services.roster import Member
from accounts.sign_in.step_up import step_up
from accounts.views.roster import RosterPages, look_or_accept, people_page, register_invited
from common.errors import Conflict, NotFound
from common.ids import parse_id
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from developers.portal.access import current_developer, developers_page, owners_page, page_for
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.services import members
from marketplace.services.apps import keep_client_secret
from marketplace.services.members import MEMBERS


def _accepted(app: App, user: User) -> str:
    """A reviewer who is a member sees the app in the administration only."""
    return resolve_url("portal:app", app.slug) if user.is_developer else resolve_url("admin:index")


PAGES = RosterPages(
    roster=MEMBERS,
    people="portal:members",
    role="portal:member_role",
    remove="portal:member_remove",
    invitation="portal:invitation",
    elsewhere=("Open portal", "portal:app_list"),
    accepted=_accepted,
)


@require_http_methods(GET_OR_POST)
@page_for(reads=AppRole.VIEWER, writes=AppRole.OWNER)
def member_list(request: HttpRequest, app: App) -> HttpResponse:
    offer = members.transfer_offer_of(app)
    is_offered = offer is not None and offer.user_id == current_developer(request).pk
    context = {"app": app, "offer": offer, "is_offered": is_offered}
    template = "developers/portal/members/list.html"
    return people_page(request, PAGES, app, app.slug, template=template, context=context)


@require_POST
@owners_page
def member_role(request: HttpRequest, app: App, member_id: str) -> HttpResponse:
    role = request.POST.get("role", "")
    changed = MEMBERS.change_role(app, by=current_developer(request), member_id=member_id, role=role)
    messages.success(request, f"{changed.email} is a {changed.role.label.lower()} now.")
    return redirect("portal:members", app.slug)


@require_http_methods(GET_OR_POST)
@page_for(reads=AppRole.VIEWER, writes=AppRole.VIEWER)
def member_remove(request: HttpRequest, app: App, member_id: str) -> HttpResponse:
    """Asks, then removes a member or takes an invitation back. A member may remove themselves."""
    person = current_developer(request)
    MEMBERS.require_may_remove(app, person, member_id)
    member = _find(app, member_id)
    is_self = member.user_id == person.pk
    if request.method == "POST":
        MEMBERS.remove(app, by=person, member_id=member_id)
        if is_self:
            messages.success(request, f"You left {app.name}.")
            return redirect("portal:app_list")
        messages.success(request, f"{member.email} was removed.")
        return redirect("portal:members", app.slug)
    context = {"app": app, "member": member, "is_self": is_self}
    return render(request, "developers/portal/members/remove.html", context)


@require_POST
@developers_page
def secret_kept(request: HttpRequest, app: App) -> HttpResponse:
    """Closes the offer to regenerate the client secret."""
    keep_client_secret(app=app, by=current_developer(request))
    return redirect("portal:members", app.slug)


def _find(app: App, member_id: str) -> Member:
    wanted = parse_id(member_id)
    member = next((each for each in MEMBERS.people_of(app) if each.id == wanted), None)
    if member is None:
        raise NotFound("Member not found")
    return member


@require_http_methods(GET_OR_POST)
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    return look_or_accept(request, PAGES, token)


@require_POST
def invitation_register(request: HttpRequest, token: str) -> HttpResponse:
    return register_invited(request, PAGES, token)


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
        found = [(each.email, f"{each.name} ({each.email})") for each in developers]
        field.choices = found if len(found) == 1 else [("", "Choose…"), *found]


@require_http_methods(GET_OR_POST)
@owners_page
@step_up
def transfer(request: HttpRequest, app: App) -> HttpResponse:
    developers = [each for each in MEMBERS.people_of(app) if each.role == "DEVELOPER" and each.user_id]
    form = TransferForm(typed(request), developers=developers)

    def save() -> HttpResponse:
        offer = members.offer_transfer(
            app=app, by=current_developer(request), email=form.cleaned_data["email"]
        )
        said = f"{app.name} is offered to {offer.address}. You stay its owner until they accept."
        return done(request, said, "portal:members", app.slug)

    if response := saved(request, form, save):
        return response
    context = {"app": app, "form": form, "developers": developers}
    return form_page(request, "developers/portal/members/transfer.html", context)


@require_POST
@owners_page
def transfer_withdraw(request: HttpRequest, app: App) -> HttpResponse:
    members.withdraw_transfer_offer(app=app, by=current_developer(request))
    messages.success(request, "The offer is withdrawn.")
    return redirect("portal:members", app.slug)


@require_http_methods(GET_OR_POST)
@developers_page
@step_up
def transfer_accept(request: HttpRequest, app: App) -> HttpResponse:
    if request.method == "POST":
        members.accept_transfer(app=app, by=current_developer(request))
        messages.success(request, f"{app.name} is yours now.")
        return redirect("portal:members", app.slug)
    if not members.is_offered_to(current_developer(request), app):
        raise Conflict(members.NOT_OFFERED)
    return render(request, "developers/portal/members/accept_transfer.html", {"app": app})
