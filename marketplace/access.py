"""Decides what a person may do with an app. No other module compares the developer of an app with a person.

Querysets ask by `App.objects.of`, `developed_by` and `owned_by`. A VIEWER reads everything but secrets, a DEVELOPER changes everything
but members, and the OWNER also decides who belongs to the app and whether there is one (contract, section 11).
"""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from accounts.services.confirmation import must_confirm
from common.errors import NotAllowed, NotFound
from marketplace.enums import AppRole
from marketplace.models import App, Membership

_RANKS: Final = (AppRole.VIEWER, AppRole.DEVELOPER, AppRole.OWNER)
TOO_LITTLE: Final = "Your role on this app is {role}. {needed}"
_NEEDED: Final = {
    AppRole.DEVELOPER: "Only its OWNER and its DEVELOPERs can do this.",
    AppRole.OWNER: "Only its OWNER can do this.",
}


def role_of(app: App, user: User | AnonymousUser) -> AppRole | None:
    """The person's role on the app. None for everyone who isn't a member, and for visitors."""
    if app.developer_id == user.pk:
        return AppRole.OWNER
    if not isinstance(user, User):
        return None
    row = Membership.objects.filter(app=app.pk, user=user).values_list("role", flat=True).first()
    return AppRole(row) if row else None


def roles_of(apps: Iterable[App], user: User) -> Mapping[UUID, AppRole]:
    """By the ids of the apps, which are all the person's. One statement, none where they own them all."""
    roles = {app.pk: AppRole.OWNER for app in apps if app.developer_id == user.pk}
    others = [app.pk for app in apps if app.pk not in roles]
    if others:
        rows = Membership.objects.filter(app__in=others, user=user).values_list("app_id", "role")
        roles |= {app: AppRole(role) for app, role in rows}
    return roles


def may_develop(app: App, user: User | AnonymousUser) -> bool:
    """Whether the person may change the app and test-install its working copy."""
    return role_of(app, user) in (AppRole.OWNER, AppRole.DEVELOPER)


def require_role(app: App, user: User, least: AppRole = AppRole.DEVELOPER) -> AppRole:
    """The person's role. Raises `NotFound` for who isn't a member, `NotAllowed` for a role below `least`."""
    role = role_of(app, user)
    if role is None:
        raise NotFound("App not found")
    require_rank(role, least)
    return role


def require_rank(role: AppRole, least: AppRole) -> None:
    """Raise `NotAllowed`, with the role, for one below `least`."""
    if _RANKS.index(role) < _RANKS.index(least):
        raise NotAllowed(TOO_LITTLE.format(role=role.value, needed=_NEEDED[least]), code="wrong_app_role")


def with_known_owner(person: User, app: App) -> App:
    """The app with its owner, without reading them, if that is the person."""
    if app.developer_id == person.pk:
        app.developer = person
    return app


def require_not_a_member(app: App, reviewer: User) -> None:
    """Raise `NotAllowed` for a reviewer who belongs to the app."""
    if role_of(app, reviewer) is not None:
        raise NotAllowed("You are a member of this app. Another reviewer has to decide on it.")


def people_to_notify(app: App) -> list[User]:
    """The owner and the developers whose addresses are confirmed: who gets mails about the app, if they want them
    (`accounts.services.outbox`)."""
    developers = app.memberships.filter(role=AppRole.DEVELOPER, user__isnull=False).select_related("user")
    people = [app.developer, *(each.user for each in developers.order_by("since") if each.user)]
    return [person for person in people if not must_confirm(person)]
