"""The staff of a store: invitations, roles, removal. The only writer of `Staff`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.access import require_role, role_in, stores_of
from accounts.enums import Role, SecurityEventKind, StoreRole
from accounts.models import LASTS, Business, Mail, Staff, User, normalize_email
from accounts.services import invitations, outbox, security_log
from accounts.services.confirmation import must_confirm, require_confirmed
from accounts.services.security_mails import mail_later
from accounts.sign_in.limits import UnaskedMail
from common.db.finders import get_or_not_found
from common.errors import Conflict, Invalid, NotAllowed, NotFound
from common.mails.letters import Letter, letter

MOST_STAFF: Final = 50  # of a store, its owner and invitations included

INVITATION: Final = "staff-invitation"
_SALT: Final = "accounts.staff-invitation"
_TO: Final = "decide on its staff"
NO_LONGER_VALID: Final = "This invitation no longer works. Ask the owner of the store for another one."
OWNER_STAYS: Final = "The owner can't be changed or removed."
ONLY_MERCHANTS: Final = (
    "This is a {role}’s account. Stores belong to merchants: ask for an invitation of another address."
)


@dataclass(frozen=True, slots=True)
class StaffMember:
    """A row of the list of a store's staff. `id` is that of the row, or of the person who owns the store."""

    id: UUID
    email: str
    name: str | None  # None while invited
    role: StoreRole
    since: datetime
    user_id: UUID | None = None
    expires_at: datetime | None = None  # of an invitation

    @property
    def is_invited(self) -> bool:
        return self.user_id is None

    @property
    def is_owner(self) -> bool:
        return self.role == StoreRole.OWNER


def staff_of(business: Business, now: datetime | None = None) -> Sequence[StaffMember]:
    """Everyone: the owner, then the newest first. Invitations that have expired are left out."""
    rows = business.staff.standing(now or timezone.now()).select_related("user").order_by("-since", "-id")
    owner = business.owner
    of_owner = StaffMember(owner.pk, owner.email, owner.name, StoreRole.OWNER, business.created_at, owner.pk)
    return [of_owner, *map(_member, rows)]


def _member(row: Staff) -> StaffMember:
    name = row.user.name if row.user else None
    expires = None if row.user else row.expires_at
    return StaffMember(row.pk, row.address, name, StoreRole(row.role), row.since, row.user_id, expires)


def invite(
    *, business: Business, by: User, email: str, role: str, now: datetime | None = None
) -> StaffMember:
    """Invite an address, whether or not it has an account, and mail it the link.

    Raises `Invalid`, `NotAllowed`, also until `by` has confirmed their address, `Conflict` for who is staff and for an address that is invited already, `TooManyRequests`.
    """
    now, email = now or timezone.now(), normalize_email(email)
    require_confirmed(by)  # so that no stranger's address brings a store's name to others
    invitations.check_email(email)
    chosen = _role(role)
    invitations.count(by)
    with transaction.atomic():
        locked = _locked(business, by)
        locked.staff.filter(user=None, since__lte=now - LASTS).delete()
        _require_new(locked, email)
        row = Staff.objects.create(business=locked, email=email, role=chosen, invited_by=by, since=now)
        _record(locked, SecurityEventKind.STAFF_INVITED, by, f"{locked.name}: {email}, {chosen.label}")
        mail_invitation(row)
    return _member(row)


@transaction.atomic
def change_role(*, business: Business, by: User, member_id: object, role: str) -> StaffMember:
    """Give somebody of the staff, or who is invited, another role, which counts from the next request on.

    Raises `Invalid`, `NotAllowed`, `NotFound`, also for the owner, who has no row.
    """
    locked = _locked(business, by)
    row, chosen = _find(locked, member_id), _role(role)
    if row.role != chosen:
        row.role = chosen
        row.save(update_fields=["role"])
        about = f"{locked.name}: {row.address}, {chosen.label}"
        _record(locked, SecurityEventKind.STAFF_ROLE_CHANGED, by, about, row.user)
        _tell(locked, row, f"The role of {row.address} in {locked.name} is {chosen.label} now.")
    return _member(row)


@transaction.atomic
def remove(*, business: Business, by: User, member_id: object) -> None:
    """Remove somebody, or take an invitation back. With the commit the person has no access. Raises like `change_role`."""
    locked = _locked(business, by)
    row = _find(locked, member_id)
    _end(locked, row, by, f"{row.address} was removed from {locked.name}.")


@transaction.atomic
def leave(*, business: Business, user: User) -> None:
    """Raises `NotFound` for who isn't staff, `Conflict` for the owner."""
    locked = _lock(business)
    if role_in(locked, user) == StoreRole.OWNER:
        raise Conflict(OWNER_STAYS)
    row = locked.staff.select_related("user").filter(user=user).first()
    if row is None:
        raise NotFound("Store not found")
    _end(locked, row, user, f"{row.address} left {locked.name}.")


@transaction.atomic
def leave_all(*, user: User) -> None:
    """For an account that is deleted: the person leaves the stores of others, and their own stores, which close, lose their staff."""
    rows = Staff.objects.filter(user=user) | Staff.objects.filter(
        business__in=stores_of(user, StoreRole.OWNER)
    )
    for store in Business.objects.filter(pk__in=rows.values("business")).order_by("pk").select_for_update():
        is_own = role_in(store, user) == StoreRole.OWNER
        for row in store.staff.select_related("user").filter(**({} if is_own else {"user": user})):
            said = f"{store.name} has closed." if is_own else f"{row.address} left {store.name}."
            _end(store, row, user, said, owner_too=not is_own)


def _end(locked: Business, row: Staff, by: User, said: str, *, owner_too: bool = True) -> None:
    person, about = row.user, f"{locked.name}: {row.address}"
    row.delete()
    _record(locked, SecurityEventKind.STAFF_REMOVED, by, about, person)
    _tell(locked, row, said, owner_too=owner_too)


# Invitations


def mail_invitation(row: Staff) -> None:
    """Mail the link, which works for the invited address only. Looking at its page doesn't use it up."""
    outbox.post_later(kind=INVITATION, to=row.email, about_id=row.pk)


@outbox.writes(INVITATION, limit=UnaskedMail.INVITATION)
def _write_invitation(mail: Mail) -> Letter | None:
    row = Staff.objects.select_related("business", "invited_by").filter(pk=mail.about_id, user=None).first()
    if row is None or row.invited_by is None:
        return None
    return letter(
        subject=f"Invitation to {row.business.name} on Extension Platform",
        to=row.email,
        template="accounts/mail/staff_invitation.txt",
        context={
            "store": row.business.name,
            "inviter": row.invited_by.email,
            "role": row.role,
            "link": f"{settings.BASE_URL}/merchant/invitations/{invitation_token(row)}/",
        },
    )


def invitation_token(row: Staff) -> str:
    return invitations.token_of(row, salt=_SALT)


def find_invitation(token: str, now: datetime | None = None) -> Staff:
    """The open invitation of a link. Raises `NotFound` for one that was accepted, taken back or has expired."""
    rows = Staff.objects.select_related("business__owner", "invited_by").filter(
        business__owner__deleted_at=None
    )
    return invitations.find(rows, token, salt=_SALT, gone=NO_LONGER_VALID, now=now)


def why_not_accepted(row: Staff, user: User) -> str:
    """Why this person can't accept the invitation; empty if they can."""
    if refusal := invitations.why_of_another(row, user):
        return refusal
    if not user.is_merchant:
        return ONLY_MERCHANTS.format(role=Role(user.role).label.lower())
    if role_in(row.business, user) is not None:
        return f"You belong to {row.business.name} already."
    return ""


@transaction.atomic
def accept(*, token: str, user: User, now: datetime | None = None) -> Business:
    """Give the invited person the role. The link came by mail, so it also confirms the address.

    Raises `NotFound` like `find_invitation`, and `NotAllowed` for another account than the invited one.
    """
    now = now or timezone.now()
    invitations.lock_person(user)
    store = _lock(find_invitation(token, now).business)
    row = find_invitation(token, now)  # as it is now, under the lock
    if reason := why_not_accepted(row, user):
        raise NotAllowed(reason)
    invitations.fulfil(row, user, now)
    about = f"{store.name}: {user.email}, {row.get_role_display()}"
    _record(store, SecurityEventKind.STAFF_JOINED, user, about, user)
    _tell(store, row, f"{user.email} belongs to {store.name} now. Their role is {row.get_role_display()}.")
    return store


def _lock(business: Business) -> Business:
    rows = Business.objects.select_for_update(of=("self",), no_key=True).select_related("owner")
    return rows.get(pk=business.pk)


def _locked(business: Business, by: User) -> Business:
    """Locked, for its owner to decide."""
    locked = _lock(business)
    require_role(locked, by, least=StoreRole.OWNER, to=_TO)
    if locked.is_sandbox:
        raise NotAllowed("A sandbox store has no staff.")
    return locked


def _record(
    store: Business, kind: SecurityEventKind, by: User, about: str, person: User | None = None
) -> None:
    """In the log of the store's owner, and of the person whom it is about."""
    for user_id in {store.owner_id, *([person.pk] if person else [])}:
        security_log.record(user_id=user_id, kind=kind, about=about, actor=by)


def _tell(store: Business, row: Staff, said: str, *, owner_too: bool = True) -> None:
    """The owner and the person of the row get the same sentence. An address that isn't confirmed gets none, so neither does who
    hasn't accepted an invitation: the sentence names the store.
    """
    if row.user is None:
        return
    of_owner = [(store.owner, f"staff/?store={store.slug}")] if owner_too else []
    for person, path in (*of_owner, (row.user, "businesses/")):
        if not must_confirm(person):
            mail_later(
                subject=f"{store.name}: staff",
                template="accounts/mail/staff_change.txt",
                context={"said": said, "page": f"{settings.BASE_URL}/merchant/{path}"},
                to=person.email,
            )


def _find(locked: Business, member_id: object) -> Staff:
    rows = locked.staff.standing(timezone.now()).select_related("user")
    return get_or_not_found(rows, member_id, "Not found among the staff")


def _role(value: str) -> StoreRole:
    if value not in (StoreRole.MANAGER, StoreRole.ORDERS):
        raise Invalid.field("role", "Choose Manager or Orders.")
    return StoreRole(value)


def _require_new(locked: Business, email: str) -> None:
    people = [locked.owner.email, *locked.staff.active().values_list("user__email", flat=True)]
    if invitations.is_among(people, email):
        raise Conflict("This person belongs to the store already.", code="member_exists")
    if invitations.is_among(locked.staff.filter(user=None).values_list("email", flat=True), email):
        raise Conflict("This address is invited already.", code="member_exists")
    if locked.staff.count() + 1 >= MOST_STAFF:
        raise Conflict(f"A store has at most {MOST_STAFF} people.", code="too_many_members")
