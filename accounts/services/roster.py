"""The one roster: the people with a role beside the owner of a thing, and the invitations to it.

There are two: `MEMBERS` of apps, in `marketplace.services.members`, and `STAFF` of stores, in `accounts.services.staff`. The owner has no row, so there is always exactly one.

The link of an invitation is signed with `SECRET_KEY` and holds the row and the address, so nothing of it is stored. It works for seven
days and for that address only, until it is accepted or taken back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import TextChoices
from django.utils import timezone

from accounts.enums import Role, SecurityEventKind
from accounts.models import LASTS, Invitable, InvitableQuerySet, Mail, User, normalize_email
from accounts.services import confirmation, invitations, outbox, security_log
from accounts.sign_in.limits import UnaskedMail
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotAllowed, NotFound
from common.ids import parse_id
from common.mails.letters import MailDraft

Thing = TypeVar("Thing", bound=Any)
Row = TypeVar("Row", bound=Invitable)


class RosterChange(Enum):
    """What happens to somebody, with the end of its kind in the security log, and its line there."""

    INVITED = "INVITED", "{name}: {email}, {role}"
    JOINED = "JOINED", "{name}: {email}, {role}"
    ROLE_CHANGED = "ROLE_CHANGED", "{name}: {email}, {role}"
    REMOVED = "REMOVED", "{name}: {email}"
    LEFT = "REMOVED", "{name}: {email}", "by themselves"
    CLOSED = "REMOVED", "{name}: {email}", "with the owner's account"


REMOVALS: Final = (RosterChange.REMOVED, RosterChange.LEFT, RosterChange.CLOSED)


@dataclass(frozen=True, slots=True)
class RoleWords:
    """What forms, the page of an invitation and its mail say about a role."""

    may: str
    invited: str  # "kim@example.com invites sam@example.com …"
    will: str
    comma: str = ""  # in the mail, before `invited`


@dataclass(frozen=True, slots=True)
class Member:
    """A row of the list of people. `id` is that of the row, or of the person who owns the thing."""

    id: UUID
    email: str
    name: str | None  # None while invited
    role: TextChoices
    since: datetime
    user_id: UUID | None = None
    expires_at: datetime | None = None  # of an invitation
    is_owner: bool = False

    @property
    def state(self) -> str:
        return "INVITED" if self.user_id is None else "ACTIVE"


@dataclass(kw_only=True)
class Roster(Generic[Thing, Row]):
    thing: str  # the word for it
    model: type[Row]
    column: str  # of the model, for the thing
    owner: str  # of the thing
    ended: str  # of the model, a moment since when invitations don't count
    path: str  # of the links in invitations
    most: int  # people of one thing, its owner and invitations included

    owner_role: TextChoices
    roles: Mapping[Any, RoleWords]  # which can be given
    usual_role: TextChoices
    accounts: Sequence[Role]  # that may belong to it. A person who registers by an invitation gets the first.
    only_confirmed_invite: bool = False

    # Mails and tokens that wait keep these through an upgrade.
    mail_kind: str
    salt: str

    log_kinds: str  # how they begin
    log: Mapping[RosterChange, str] = field(default_factory=dict)  # lines of its own
    unknown: str
    owner_stays: str
    wrong_role: str
    is_on_it: str
    you_are_on_it: str
    too_many: str

    role_of: Callable[[Thing, User], TextChoices | None]
    require_owner: Callable[[Thing, User], object]
    """Raises `NotAllowed` for anybody else, and for a thing that has no roster."""
    lock: Callable[[Thing], Thing]
    lock_all: Callable[[User], Iterable[Thing]]
    """What the person leaves, or closes, by deleting the account."""
    follow: Callable[[RosterChange, Thing, Row, datetime], None]
    """What else a change brings about, in its transaction."""

    def __post_init__(self) -> None:
        outbox.writes(self.mail_kind, limit=UnaskedMail.INVITATION)(self._write_invitation)

    def owner_of(self, thing: Thing) -> User:
        owner: User = getattr(thing, self.owner)
        return owner

    # People

    def of(self, thing: Thing) -> InvitableQuerySet[Row]:
        rows: Any = self.model.objects.filter(**{self.column: thing})
        return cast(InvitableQuerySet[Row], rows.select_related("user"))

    def people_of(self, thing: Thing, now: datetime | None = None) -> Sequence[Member]:
        """Everyone, newest first. Invitations that have expired are left out."""
        owner, since = self.owner_of(thing), getattr(thing, "owner_since", None) or thing.created_at
        of_owner = Member(owner.pk, owner.email, owner.name, self.owner_role, since, owner.pk, is_owner=True)
        found = [of_owner, *map(self._member, self.of(thing).standing(now or timezone.now()))]
        return sorted(found, key=lambda each: (each.since, each.id), reverse=True)

    def _member(self, row: Row) -> Member:
        user, expires = row.user, None if row.user else row.expires_at
        name, user_id = (user.name, user.pk) if user else (None, None)
        return Member(row.pk, row.address, name, self._role_of(row), row.since, user_id, expires)

    def _role_of(self, row: Row) -> TextChoices:
        return type(self.owner_role)(row.role)

    # Changes

    def invite(self, thing: Thing, *, by: User, email: str, role: str, now: datetime | None = None) -> Member:
        """Invite an address, whether or not it has an account, and mail it the link.

        Raises `Invalid`, `NotAllowed`, `Conflict` for a person or an address that is on the roster already, `TooManyRequests`.
        """
        now, email = now or timezone.now(), normalize_email(email)
        if self.only_confirmed_invite:
            confirmation.require_confirmed(by)
        invitations.check_email(email)
        chosen = self._role(role)
        invitations.count(by)
        with transaction.atomic():
            locked = self._lock_for_owner(thing, by)
            self.of(locked).filter(user=None, since__lte=now - LASTS).delete()
            self._require_new(locked, email)
            row = self.model(email=email, role=chosen, invited_by=by, since=now, **{self.column: locked})
            row.save(force_insert=True)
            self._record(RosterChange.INVITED, locked, row, by, now)
            self.mail_invitation(row)
        return self._member(row)

    @transaction.atomic
    def change_role(
        self, thing: Thing, *, by: User, member_id: object, role: str, now: datetime | None = None
    ) -> Member:
        """Give somebody another role, invited or not, which counts from the next request on.

        Raises `Invalid`, `NotAllowed`, `NotFound`, `Conflict` for the owner.
        """
        locked = self._lock_for_owner(thing, by)
        row, chosen = self._find(locked, member_id), self._role(role)
        if row.role != chosen:
            row.role = chosen
            row.save(update_fields=["role"])
            self._record(RosterChange.ROLE_CHANGED, locked, row, by, now)
        return self._member(row)

    @transaction.atomic
    def remove(self, thing: Thing, *, by: User, member_id: object, now: datetime | None = None) -> None:
        """Remove somebody, or take an invitation back. All but the owner may leave by themselves.

        With the commit the person has no access. Raises like `change_role`: a role that may not do it learns nothing of
        the row (contract, section 9).
        """
        locked = self.lock(thing)
        self.require_may_remove(locked, by, member_id)
        row = self._find(locked, member_id)
        self._end(RosterChange.LEFT if row.user_id == by.pk else RosterChange.REMOVED, locked, row, by, now)

    def require_may_remove(self, thing: Thing, person: User, member_id: object) -> None:
        """Raise `NotAllowed` for another one's id, and for an unknown one, unless the person owns the thing."""
        wanted = parse_id(str(member_id))
        if wanted is None or not self.of(thing).filter(user=person, pk=wanted).exists():
            self.require_owner(thing, person)

    def leave(self, thing: Thing, *, user: User) -> None:
        """Raises `NotAllowed` for a stranger, `Conflict` for the owner."""
        row = self.of(thing).filter(user=user).first()
        self.remove(thing, by=user, member_id=row.pk if row else user.pk)

    @transaction.atomic
    def leave_all(self, *, user: User, now: datetime | None = None) -> None:
        """For an account that is deleted: the person leaves the things of others, and what closes with the account loses its people."""
        for thing in self.lock_all(user):
            closes = self.owner_of(thing) == user
            for row in self.of(thing).filter(**({} if closes else {"user": user})):
                self._end(RosterChange.CLOSED if closes else RosterChange.LEFT, thing, row, user, now)

    def _end(self, change: RosterChange, locked: Thing, row: Row, by: User, now: datetime | None) -> None:
        row.delete()
        self._record(change, locked, row, by, now)

    def _record(self, change: RosterChange, thing: Thing, row: Row, by: User, now: datetime | None) -> None:
        """In the log of the owner, and of the person whom it is about."""
        kind, usual = change.value[:2]
        said = self.log.get(change, usual)
        about = said.format(name=thing.name, email=row.address, role=self._role_of(row).label)
        for user_id in {self.owner_of(thing).pk, *([row.user_id] if row.user_id else [])}:
            security_log.record(
                user_id=user_id, kind=SecurityEventKind(f"{self.log_kinds}_{kind}"), about=about, actor=by
            )
        self.follow(change, thing, row, now or timezone.now())

    # Invitations

    def mail_invitation(self, row: Row) -> None:
        """Mail the link, which works for the invited address only. Looking at its page doesn't use it up."""
        outbox.post_later(kind=self.mail_kind, to=row.email, about_id=row.pk)

    def _write_invitation(self, mail: Mail) -> MailDraft | None:
        rows: Any = self.model.objects.select_related(self.column, "invited_by")
        row: Row | None = rows.filter(pk=mail.about_id, user=None).first()
        if row is None or row.invited_by is None:
            return None
        name = self.thing_of(row).name
        facts = {
            "thing": self.thing,
            "name": name,
            "inviter": row.invited_by.email,
            "role": self.roles[row.role],
            "link": f"{settings.BASE_URL}/{self.path}/{self.token_of(row)}/",
        }
        subject = f"Invitation to {name} on {settings.PLATFORM_NAME}"
        return MailDraft(subject, "accounts/mail/invitation.txt", facts)

    def token_of(self, row: Row) -> str:
        return signing.dumps([str(row.pk), row.email], salt=self.salt)

    def find_invitation(self, token: str, now: datetime | None = None) -> Row:
        """The open invitation of a link. Raises `NotFound` for one that was accepted, taken back or has expired."""
        gone = f"This invitation no longer works. Ask the owner of the {self.thing} for another one."
        try:
            row_id, email = signing.loads(token, salt=self.salt)
        except (signing.BadSignature, ValueError):
            raise NotFound(gone) from None
        rows: Any = self.model.objects.select_related(self.column, "invited_by")
        standing = rows.filter(**{self.ended: None}).standing(now or timezone.now())
        row: Row | None = standing.filter(user=None, pk=row_id, email=email).first()
        if row is None:
            raise NotFound(gone)
        return row

    def thing_of(self, row: Row) -> Thing:
        thing: Thing = getattr(row, self.column)
        return thing

    def why_not_accepted(self, row: Row, user: User) -> str:
        """Why this person can't accept the invitation; empty if they can."""
        if not user.has_address(row.email):
            return f"This invitation is for {row.email}, and you are signed in as {user.shown_email or user.name}. Sign in with that address."
        if user.role not in self.accounts:
            theirs, right = (Role(role).label.lower() for role in (user.role, self.accounts[0]))
            belongs = f"{self.thing.title()}s belong to {right}s"
            return f"This is a {theirs}’s account. {belongs}: ask for an invitation of another address."
        thing = self.thing_of(row)
        return self.you_are_on_it.format(name=thing.name) if self.role_of(thing, user) is not None else ""

    @transaction.atomic
    def accept(self, *, token: str, user: User, now: datetime | None = None) -> Thing:
        """Give the invited person the role. The link came by mail, so it also confirms the address.

        Raises `NotFound` like `find_invitation`, and `NotAllowed` for another account than the invited one.
        """
        now = now or timezone.now()
        invitations.lock_person(user)
        thing = self.lock(self.thing_of(self.find_invitation(token, now)))
        row = self.find_invitation(token, now)  # as it is now, under the lock
        if reason := self.why_not_accepted(row, user):
            raise NotAllowed(reason)
        if not confirmation.is_confirmed(user):
            confirmation.confirm(user=user)
        row.user, row.email, row.since = user, "", now
        row.save(update_fields=["user", "email", "since"])
        self._record(RosterChange.JOINED, thing, row, user, now)
        return thing

    # Rules

    def _lock_for_owner(self, thing: Thing, by: User) -> Thing:
        locked = self.lock(thing)
        self.require_owner(locked, by)
        return locked

    def _find(self, locked: Thing, member_id: object) -> Row:
        if parse_id(str(member_id)) == self.owner_of(locked).pk:
            raise Conflict(self.owner_stays, code="owner_stays")
        return get_or_not_found(self.of(locked).standing(timezone.now()), member_id, self.unknown)

    def _role(self, value: str) -> TextChoices:
        if value not in self.roles:
            raise Invalid.field("role", self.wrong_role)
        return type(self.owner_role)(value)

    def _require_new(self, locked: Thing, email: str) -> None:
        rows = self.of(locked)
        people = [self.owner_of(locked).email, *rows.active().values_list("user__email", flat=True)]
        if invitations.is_among(people, email):
            raise Conflict(self.is_on_it, code="member_exists")
        if invitations.is_among(rows.filter(user=None).values_list("email", flat=True), email):
            raise Conflict("This address is invited already.", code="member_exists")
        if rows.count() + 1 >= self.most:
            raise Conflict(self.too_many.format(most=self.most), code="too_many_members")
