"""The members of an app: invitations, roles, removal. With `transfers`, the only writer of `Membership`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.enums import Role, SecurityEventKind
from accounts.models import LASTS, Mail, User, normalize_email
from accounts.services import invitations, outbox, security_log
from accounts.sign_in.limits import UnaskedMail
from common.db.finders import get_or_not_found
from common.errors import Conflict, Invalid, NotAllowed
from common.ids import parse_id
from common.mails.letters import Letter, letter
from marketplace.access import require_role, role_of
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services.locks import lock_app
from marketplace.signals import developer_left

MOST_MEMBERS: Final = 50  # of an app, invitations included

INVITATION: Final = "app-invitation"
_SALT: Final = "marketplace.invitation"
NO_LONGER_VALID: Final = "This invitation no longer works. Ask the owner of the app for another one."
OWNER_STAYS: Final = "The owner can't be changed or removed. Transfer the app first."


@dataclass(frozen=True, slots=True)
class Member:
    """A row of the list of members. `id` is that of the membership, or of the person who owns the app."""

    id: UUID
    email: str
    name: str | None  # None while invited
    role: AppRole
    since: datetime
    user_id: UUID | None = None
    expires_at: datetime | None = None  # of an invitation
    owner_offered_at: datetime | None = None

    @property
    def state(self) -> str:
        return "INVITED" if self.user_id is None else "ACTIVE"

    @property
    def is_owner(self) -> bool:
        return self.role == AppRole.OWNER


def members_of(app: App, now: datetime | None = None) -> Sequence[Member]:
    """Everyone, newest first. Invitations that have expired are left out."""
    rows = app.memberships.standing(now or timezone.now()).select_related("user")
    owner = app.developer
    since = app.owner_since or app.created_at
    found = [Member(owner.pk, owner.email, owner.name, AppRole.OWNER, since, owner.pk), *map(_member, rows)]
    return sorted(found, key=lambda each: (each.since, each.id), reverse=True)


def _member(row: Membership) -> Member:
    name = row.user.name if row.user else None
    expires = None if row.user else row.expires_at
    offered = row.owner_offered_at
    return Member(row.pk, row.address, name, AppRole(row.role), row.since, row.user_id, expires, offered)


def invite(*, app: App, by: User, email: str, role: str, now: datetime | None = None) -> Member:
    """Invite an address, whether or not it has an account, and mail it the link.

    Raises `Invalid`, `NotAllowed`, `Conflict` for a member and for an address that is invited already, `TooManyRequests`.
    """
    now, email = now or timezone.now(), normalize_email(email)
    invitations.check_email(email)
    chosen = _role(role)
    invitations.count(by)
    with transaction.atomic():
        locked = lock_app(app)
        require_role(locked, by, AppRole.OWNER)
        locked.memberships.filter(user=None, since__lte=now - LASTS).delete()
        _require_new(locked, email)
        row = Membership.objects.create(app=locked, email=email, role=chosen, invited_by=by, since=now)
        _record(locked, SecurityEventKind.MEMBER_INVITED, by, f"{locked.name}: {email} as {chosen.label}")
        mail_invitation(row)
    return _member(row)


@transaction.atomic
def change_role(*, app: App, by: User, member_id: object, role: str, now: datetime | None = None) -> Member:
    """Give a member, or who is invited, another role. A member who becomes a viewer loses the test install and an offer of the app.

    Raises `Invalid`, `NotAllowed`, `NotFound`, `Conflict` for the owner.
    """
    locked = lock_app(app)
    require_role(locked, by, AppRole.OWNER)
    row, chosen = _find(locked, member_id), _role(role)
    if row.role != chosen:
        row.role, row.owner_offered_at = chosen, None
        row.save(update_fields=["role", "owner_offered_at"])
        _record(
            locked,
            SecurityEventKind.MEMBER_ROLE_CHANGED,
            by,
            f"{locked.name}: {row.address}, {chosen.label}",
            row.user,
        )
        if chosen == AppRole.VIEWER and row.user:
            _end_development(locked, row.user, AppRole.DEVELOPER, now or timezone.now())
    return _member(row)


@transaction.atomic
def remove(*, app: App, by: User, member_id: object, now: datetime | None = None) -> None:
    """Remove a member, or take an invitation back. A member may leave by themselves.

    With the commit the person has no access, and no test install of the app. Raises like `change_role`: a role that may
    not do it learns nothing of the row (contract, section 9).
    """
    locked = lock_app(app)
    require_may_remove(locked, by, member_id)
    _end(locked, _find(locked, member_id), by, now or timezone.now())


def require_may_remove(app: App, person: User, member_id: object) -> None:
    """Raise `NotAllowed` for another member's id, and for an unknown one, unless the person owns the app."""
    wanted = parse_id(str(member_id))
    is_self = wanted is not None and app.memberships.filter(user=person, pk=wanted).exists()
    require_role(app, person, AppRole.VIEWER if is_self else AppRole.OWNER)


@transaction.atomic
def leave_all(*, user: User, now: datetime) -> None:
    """For an account that is deleted."""
    for app in (
        App.objects.filter(memberships__user=user).order_by("pk").select_for_update(of=("self",), no_key=True)
    ):
        _end(app, app.memberships.select_related("user").get(user=user), user, now)


def _end(locked: App, row: Membership, by: User, now: datetime) -> None:
    person, about = row.user, f"{locked.name}: {row.address}"
    row.delete()
    _record(locked, SecurityEventKind.MEMBER_REMOVED, by, about, person)
    if person:
        _end_development(locked, person, AppRole(row.role), now)


def _end_development(locked: App, person: User, before: AppRole, now: datetime) -> None:
    """The app remembers that a developer left who may know its client secret, however they went."""
    if before == AppRole.DEVELOPER:
        locked.developer_left_at = now
        locked.save(update_fields=["developer_left_at"])
    developer_left.send(App, app=locked, user=person, now=now)


# Invitations


def mail_invitation(row: Membership) -> None:
    """Mail the link, which works for the invited address only. Looking at its page doesn't use it up."""
    outbox.post_later(kind=INVITATION, to=row.email, about_id=row.pk)


@outbox.writes(INVITATION, limit=UnaskedMail.INVITATION)
def _write_invitation(mail: Mail) -> Letter | None:
    row = Membership.objects.select_related("app", "invited_by").filter(pk=mail.about_id, user=None).first()
    if row is None or row.invited_by is None:
        return None
    return letter(
        subject=f"Invitation to {row.app.name} on Extension Platform",
        to=row.email,
        template="marketplace/mail/invitation.txt",
        context={
            "app": row.app.name,
            "inviter": row.invited_by.email,
            "role": row.get_role_display().lower(),
            "link": f"{settings.BASE_URL}/portal/invitations/{invitation_token(row)}/",
        },
    )


def invitation_token(row: Membership) -> str:
    return invitations.token_of(row, salt=_SALT)


def find_invitation(token: str, now: datetime | None = None) -> Membership:
    """The open invitation of a link. Raises `NotFound` for one that was accepted, taken back or has expired."""
    rows = Membership.objects.select_related("app__icon", "invited_by").filter(app__deleted_at=None)
    return invitations.find(rows, token, salt=_SALT, gone=NO_LONGER_VALID, now=now)


def why_not_accepted(row: Membership, user: User) -> str:
    """Why this person can't accept the invitation; empty if they can."""
    if refusal := invitations.why_of_another(row, user):
        return refusal
    if user.role == Role.MERCHANT:
        return "This is a merchant’s account. Apps belong to developers: ask for an invitation of another address."
    if role_of(row.app, user) is not None:
        return f"You are a member of {row.app.name} already."
    return ""


@transaction.atomic
def accept(*, token: str, user: User, now: datetime | None = None) -> App:
    """Make the invited person a member. The link came by mail, so it also confirms the address.

    Raises `NotFound` like `find_invitation`, and `NotAllowed` for another account than the invited one.
    """
    now = now or timezone.now()
    invitations.lock_person(user)
    app = lock_app(find_invitation(token, now).app)
    row = find_invitation(token, now)  # as it is now, under the lock
    if reason := why_not_accepted(row, user):
        raise NotAllowed(reason)
    invitations.fulfil(row, user, now)
    _record(app, SecurityEventKind.MEMBER_JOINED, user, f"{app.name}: {user.email}", user)
    return app


def _record(app: App, kind: SecurityEventKind, by: User, about: str, person: User | None = None) -> None:
    """In the log of the app's owner, and of the person whom it is about."""
    for user_id in {app.developer_id, *([person.pk] if person else [])}:
        security_log.record(user_id=user_id, kind=kind, about=about, actor=by)


def _find(locked: App, member_id: object) -> Membership:
    owner = locked.developer
    if parse_id(str(member_id)) == owner.pk:
        raise Conflict(OWNER_STAYS, code="owner_stays")
    rows = locked.memberships.standing(timezone.now()).select_related("user")
    return get_or_not_found(rows, member_id, "Member not found")


def _role(value: str) -> AppRole:
    if value not in (AppRole.DEVELOPER, AppRole.VIEWER):
        raise Invalid.field(
            "role", "Must be DEVELOPER or VIEWER. Transfer the app to make somebody its owner."
        )
    return AppRole(value)


def _require_new(locked: App, email: str) -> None:
    members = locked.memberships.all()
    people = [locked.developer.email, *members.active().values_list("user__email", flat=True)]
    if invitations.is_among(people, email):
        raise Conflict("This person is a member already.", code="member_exists")
    if invitations.is_among(members.filter(user=None).values_list("email", flat=True), email):
        raise Conflict("This address is invited already.", code="member_exists")
    if members.count() + 1 >= MOST_MEMBERS:
        raise Conflict(f"An app has at most {MOST_MEMBERS} members.", code="too_many_members")
