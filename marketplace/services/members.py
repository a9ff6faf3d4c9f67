"""The members of apps, and transfers of an app: the owner offers it to a developer of it, who accepts. The only writer of `Membership`."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, UUIDField
from django.utils import timezone

from accounts.enums import Role, SecurityEventKind
from accounts.models import LASTS, User
from accounts.services import security_log
from accounts.services.confirmation import require_confirmed
from accounts.services.invitations import is_among
from accounts.services.outbox import ACCOUNT, post
from accounts.services.roster import REMOVALS, RoleWords, Roster, RosterChange
from common.db.compiled import Compiled, Param
from common.errors import Conflict, NotFound
from common.mails.letters import MailDraft
from marketplace.access import require_role, role_of
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services.apps import require_room
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


# --- Transfers ---------------------------------------------------------------------------------------

_SUBJECTS: Final = {
    "offered": "The transfer of {app} is offered",
    "transferred": "{app} has another owner",
}
NOT_OFFERED: Final = "This app isn't offered to you any more. Ask its owner to offer it again."


def transfer_offer_of(app: App, now: datetime | None = None) -> Membership | None:
    """The offer that can be accepted now."""
    since = (now or timezone.now()) - LASTS
    return app.memberships.select_related("user").filter(owner_offered_at__gt=since).first()


def is_offered_to(person: User, app: App) -> bool:
    """No statement for the owner, who has it already."""
    if role_of(app, person) != AppRole.DEVELOPER:
        return False
    row = transfer_offer_of(app)
    return row is not None and row.user_id == person.pk


def offered_to(person: User, now: datetime | None = None) -> list[App]:
    """The apps that the person can become the owner of now, with their owners, newest offer first."""
    since = (now or timezone.now()) - LASTS
    return [each.app for each in _OFFERED.rows(person=person.pk, since=since)]


_OFFERED: Final = Compiled(
    lambda: (
        Membership.objects.filter(
            user=Param("person", UUIDField()),
            role=AppRole.DEVELOPER,
            owner_offered_at__gt=Param("since", DateTimeField()),
        )
        .select_related("app__developer")
        .order_by("-owner_offered_at")
    ),
    prepared_as="marketplace_offered",
)


@transaction.atomic
def offer_transfer(*, app: App, by: User, email: str, now: datetime | None = None) -> Membership:
    """Offer the app to one of its developers, in place of an earlier offer. Both get a mail.

    Raises `NotAllowed`, `NotFound` for who isn't a member, `Conflict` for any member but an active developer.
    """
    locked = lock_app(app)
    require_role(locked, by, AppRole.OWNER)
    row = _developer(locked, email)
    locked.memberships.exclude(owner_offered_at=None).update(owner_offered_at=None)
    row.owner_offered_at = now or timezone.now()
    row.save(update_fields=["owner_offered_at"])
    assert row.user is not None
    about = f"{locked.name} is offered to {row.address}"
    _tell_both(locked, by, row.user, "offered", SecurityEventKind.APP_OFFERED, about, actor=by)
    return row


@transaction.atomic
def withdraw_transfer_offer(*, app: App, by: User) -> None:
    """Changes nothing without an offer."""
    locked = lock_app(app)
    require_role(locked, by, AppRole.OWNER)
    locked.memberships.exclude(owner_offered_at=None).update(owner_offered_at=None)


@transaction.atomic
def accept_transfer(*, app: App, by: User, now: datetime | None = None) -> App:
    """Make the developer to whom the app is offered its owner, and its owner a developer. Nothing else of the app changes.

    Raises `Conflict` without an offer and for a person with too many apps, `NotAllowed` until the address is confirmed.
    """
    now = now or timezone.now()
    require_confirmed(by)
    locked = lock_app(app)
    row = transfer_offer_of(locked, now)
    if row is None or row.user_id != by.pk:
        raise Conflict(NOT_OFFERED)
    require_room(by)
    previous = locked.developer
    row.delete()
    Membership.objects.create(app=locked, user=previous, role=AppRole.DEVELOPER, invited_by=by, since=now)
    locked.developer, locked.owner_since = by, now
    locked.save(update_fields=["developer", "owner_since"])
    kind, about = SecurityEventKind.APP_TRANSFERRED, f"{locked.name} belongs to {by.email}"
    _tell_both(locked, previous, by, "transferred", kind, about, actor=by)
    return locked


def _developer(locked: App, email: str) -> Membership:
    rows = locked.memberships.select_related("user").standing(timezone.now())
    row = next((each for each in rows if is_among([each.address], email)), None)
    if row is None and not is_among([locked.developer.email], email):
        raise NotFound("Member not found")
    if row is None or row.user is None or row.role != AppRole.DEVELOPER or not row.user.is_developer:
        raise Conflict(
            "Only an active DEVELOPER of the app, with a developer's account, can become its owner.",
            code="not_an_active_developer",
        )
    return row


def _tell_both(
    app: App, previous: User, other: User, mail: str, kind: SecurityEventKind, about: str, *, actor: User
) -> None:
    """Both get a mail and a line in their security log."""
    page = f"{settings.BASE_URL}/portal/apps/{app.slug}/"
    facts = {"app": app.name, "previous": previous.email, "other": other.email, "page": page}
    draft = MailDraft(_SUBJECTS[mail].format(app=app.name), f"marketplace/mail/{mail}.txt", facts)
    for person in (previous, other):
        security_log.record(user_id=person.pk, kind=kind, about=about, actor=actor)
        post(draft, to=person.email, kind=ACCOUNT)
