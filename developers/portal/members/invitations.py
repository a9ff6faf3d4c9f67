"""The page of the link that invites to an app."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.enums import Role
from accounts.models import User
from accounts.views.invitations import Kind, look_or_accept, register_invited
from common.web.methods import GET_OR_POST
from marketplace.services import members


def _accept(token: str, user: User) -> str:
    """A reviewer who is a member sees the app in the administration only."""
    app = members.accept(token=token, user=user)
    return resolve_url("portal:app", app.slug) if user.is_developer else resolve_url("admin:index")


OF_APPS = Kind(
    "portal:invitation",
    "developers/portal/members/invitation.html",
    Role.DEVELOPER,
    members.find_invitation,
    members.why_not_accepted,
    _accept,
)


@require_http_methods(GET_OR_POST)
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    return look_or_accept(request, OF_APPS, token)


@require_POST
def invitation_register(request: HttpRequest, token: str) -> HttpResponse:
    return register_invited(request, OF_APPS, token)
