"""Transfers of an app: the owner offers it to a developer of it, who accepts. With `members`, the only writer of `Membership`."""

from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import LASTS, User
from accounts.services import security_log
from accounts.services.confirmation import require_confirmed
from accounts.services.invitations import is_among
from accounts.services.security_mails import mail_later
from common.errors import Conflict, NotFound
from marketplace.access import require_role, role_of
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services.apps import require_room
from marketplace.services.locks import lock_app

_SUBJECTS: Final = {
    "offered": "The transfer of {app} is offered",
    "transferred": "{app} has another owner",
}
NOT_OFFERED: Final = "This app isn't offered to you any more. Ask its owner to offer it again."


def offer_of(app: App, now: datetime | None = None) -> Membership | None:
    """The offer that can be accepted now."""
    since = (now or timezone.now()) - LASTS
    return app.memberships.select_related("user").filter(owner_offered_at__gt=since).first()


def is_offered_to(person: User, app: App) -> bool:
    """No statement for the owner, who has it already."""
    if role_of(app, person) != AppRole.DEVELOPER:
        return False
    row = offer_of(app)
    return row is not None and row.user_id == person.pk


@transaction.atomic
def offer(*, app: App, by: User, email: str, now: datetime | None = None) -> Membership:
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
def withdraw_offer(*, app: App, by: User) -> None:
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
    row = offer_of(locked, now)
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
    facts = {"app": app.name, "previous": previous.email, "other": other.email, "base_url": settings.BASE_URL}
    facts["page"] = f"{settings.BASE_URL}/portal/apps/{app.slug}/"
    for person in (previous, other):
        security_log.record(user_id=person.pk, kind=kind, about=about, actor=actor)
        mail_later(
            subject=_SUBJECTS[mail].format(app=app.name),
            template=f"marketplace/mail/{mail}.txt",
            context=facts,
            to=person.email,
        )
