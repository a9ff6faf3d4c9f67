"""The members of apps. With `transfers`, the only writer of `Membership`."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from accounts.enums import Role
from accounts.models import User
from accounts.services.roster import REMOVALS, RoleWords, Roster, RosterChange
from marketplace.access import require_role, role_of
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services.locks import lock_app
from marketplace.signals import developer_left


def _require_owner(app: App, user: User) -> None:
    require_role(app, user, AppRole.OWNER)


def _lock_all(user: User) -> Iterable[App]:
    """Of others: an account whose app has other members can't be deleted."""
    apps = App.objects.filter(memberships__user=user).order_by("pk")
    return apps.select_for_update(of=("self",), no_key=True)


def _follow(change: RosterChange, app: App, row: Membership, now: datetime) -> None:
    """A member who leaves or becomes a viewer loses the test install, and another role ends an offer of the app.

    The app remembers that a developer left who may know its client secret, however they went.
    """
    becomes_viewer = change == RosterChange.ROLE_CHANGED and row.role == AppRole.VIEWER
    if change == RosterChange.ROLE_CHANGED:
        Membership.objects.filter(pk=row.pk).update(owner_offered_at=None)
    if row.user is None or not (becomes_viewer or change in REMOVALS):
        return
    if becomes_viewer or row.role == AppRole.DEVELOPER:
        app.developer_left_at = now
        app.save(update_fields=["developer_left_at"])
    developer_left.send(App, app=app, user=row.user, now=now)


MEMBERS: Final = Roster(
    thing="app",
    model=Membership,
    column="app",
    owner="developer",
    ended="app__deleted_at",
    path="portal/invitations",
    most=50,
    owner_role=AppRole.OWNER,
    roles={
        AppRole.DEVELOPER: RoleWords(
            "Changes, tests and submits the app. Gets its notices.",
            "as a developer",
            "You will be able to change, test and submit the app.",
        ),
        AppRole.VIEWER: RoleWords(
            "Sees everything but secrets, and changes nothing.",
            "as a viewer",
            "You will see everything of the app but its secrets, and change nothing.",
        ),
    },
    usual_role=AppRole.DEVELOPER,
    accounts=[Role.DEVELOPER, Role.REVIEWER],
    mail_kind="app-invitation",
    salt="marketplace.invitation",
    log_kinds="MEMBER",
    log={RosterChange.INVITED: "{name}: {email} as {role}", RosterChange.JOINED: "{name}: {email}"},
    unknown="Member not found",
    owner_stays="The owner can't be changed or removed. Transfer the app first.",
    wrong_role="Must be DEVELOPER or VIEWER. Transfer the app to make somebody its owner.",
    is_on_it="This person is a member already.",
    you_are_on_it="You are a member of {name} already.",
    too_many="An app has at most {most} members.",
    role_of=role_of,
    require_owner=_require_owner,
    lock=lock_app,
    lock_all=_lock_all,
    follow=_follow,
)
