"""The members of an app: who they are, inviting, changing roles, removing and leaving."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from accounts.views.invitations import InviteForm
from common.errors import NotFound
from common.ids import parse_id
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST
from developers.portal.access import current_developer, owners_page, page_for
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.services import members, transfers
from marketplace.services.members import Member

ROLES = {
    AppRole.DEVELOPER.value: ("Developer", "Changes, tests and submits the app. Gets its notices."),
    AppRole.VIEWER.value: ("Viewer", "Sees everything but secrets, and changes nothing."),
}


@require_http_methods(GET_OR_POST)
@page_for(reads=AppRole.VIEWER, writes=AppRole.OWNER)
def member_list(request: HttpRequest, app: App) -> HttpResponse:
    form = InviteForm(typed(request), roles=ROLES, usual=AppRole.DEVELOPER)

    def save() -> HttpResponse:
        invited = members.invite(app=app, by=current_developer(request), **form.cleaned_data)
        said = f"{invited.email} is invited. We sent the link, which works for seven days."
        return done(request, said, "portal:members", app.slug)

    if response := saved(request, form, save):
        return response
    context = {
        "app": app,
        "form": form,
        "members": sorted(members.members_of(app), key=lambda each: not each.is_owner),
        "offer": transfers.offer_of(app),
        "secret_known": "left" in request.GET,
    }
    return form_page(request, "developers/portal/members/list.html", context)


@require_POST
@owners_page
def member_role(request: HttpRequest, app: App, member_id: str) -> HttpResponse:
    before = _find(app, member_id)
    changed = members.change_role(
        app=app, by=current_developer(request), member_id=member_id, role=request.POST.get("role", "")
    )
    messages.success(request, f"{changed.email} is a {changed.role.label.lower()} now.")
    return redirect(_back(app, before, left=changed.role == AppRole.VIEWER))


@require_http_methods(GET_OR_POST)
@page_for(reads=AppRole.VIEWER, writes=AppRole.VIEWER)
def member_remove(request: HttpRequest, app: App, member_id: str) -> HttpResponse:
    """Asks, then removes a member or takes an invitation back. A member may remove themselves."""
    person, member = current_developer(request), _find(app, member_id)
    is_self = member.user_id == person.pk
    if request.method == "POST":
        members.remove(app=app, by=person, member_id=member_id)
        if is_self:
            messages.success(request, f"You left {app.name}.")
            return redirect("portal:app_list")
        messages.success(request, f"{member.email} was removed.")
        return redirect(_back(app, member, left=True))
    context = {"app": app, "member": member, "is_self": is_self}
    return render(request, "developers/portal/members/remove.html", context)


def _find(app: App, member_id: str) -> Member:
    wanted = parse_id(member_id)
    member = next((each for each in members.members_of(app) if each.id == wanted), None)
    if member is None:
        raise NotFound("Member not found")
    return member


def _back(app: App, member: Member, *, left: bool) -> str:
    """The list; after a developer has left, with the advice to regenerate the client secret."""
    knew_secret = left and member.role == AppRole.DEVELOPER and member.user_id is not None
    return resolve_url("portal:members", app.slug) + ("?left" if knew_secret else "")
