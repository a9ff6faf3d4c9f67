"""Deleting an account.

One transaction ends everything by which the person can act and empties the rows that say who it was. Rows that others
refer to, such as the history of an installation, keep their reference to an empty person. The store's records are
removed by a worker afterwards (`stores.services.customer_erasure`).

Locks are acquired in the order authorization codes, apps, businesses, person.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.enums import SELF_REGISTERED, SecurityEventKind
from accounts.models import Business, DeveloperToken, DeviceGrant, Session, SignIn, User, WrongCode
from accounts.services import security_log
from accounts.services.outbox import ACCOUNT, forget_person, post
from accounts.services.staff import STAFF
from accounts.signals import account_deleted, account_deletion_asked
from common.errors import Conflict
from common.mails.letters import MailDraft
from common.rest.idempotency import forget, owner_of

NAME: Final = "Deleted account"
STORE_NAME: Final = "Deleted store"
# What signs a person in. A password reset ends or weakens each of these, too (`services.passwords`).
SIGN_INS: Final[tuple[Any, ...]] = (
    Session,
    SignIn,
    DeveloperToken,
    DeviceGrant,
    Authenticator,
    SocialAccount,
)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an account can't be deleted now, what to do about it, and the path of the page to do it on, if there is one."""

    title: str
    advice: str
    path: str = ""


class NotDeletableError(Conflict):
    """The account stays. `obstacles` says why."""

    def __init__(self, obstacles: Iterable[Obstacle]) -> None:
        self.obstacles = list(obstacles)
        super().__init__(" ".join(f"{each.title}." for each in self.obstacles))


def obstacles_of(user: User, *, locking: bool = False) -> list[Obstacle]:
    """What keeps the account from being deleted. `locking` needs a transaction, and keeps the answer true in it."""
    if user.role not in SELF_REGISTERED or user.is_staff or user.is_superuser:
        title = "Administrators delete the accounts of reviewers and staff"
        return [Obstacle(title, "Ask an administrator to close yours.")]
    answers: list[tuple[Any, Any]] = account_deletion_asked.send(User, user=user, locking=locking)
    return [obstacle for _, found in answers for obstacle in found]


@transaction.atomic
def delete_account(*, user: User, now: datetime | None = None) -> None:
    """Delete the account, uninstall what is installed in its stores, end its apps, and let the staff of its stores go.

    Raises `NotDeletableError`, and `Conflict` if it was deleted in the meantime.
    """
    now = now or timezone.now()
    if found := obstacles_of(user, locking=True):
        raise NotDeletableError(found)
    # Before the stores, as who accepts an invitation does; but rows that refer to the person may still be written there.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    STAFF.leave_all(user=user)
    person = User.objects.select_for_update().get(pk=user.pk)
    if person.deleted_at is not None:
        raise Conflict("This account is deleted already.")
    forget_person(person.email, person.pending_email)
    subject = f"Your account at {settings.PLATFORM_NAME} is deleted"
    post(MailDraft(subject, "accounts/mail/account_deleted.txt", {}), to=person.email, kind=ACCOUNT)
    close_account(person=person, now=now)
    security_log.record(user_id=person.pk, kind=SecurityEventKind.ACCOUNT_DELETED)


def close_account(*, person: User, now: datetime) -> None:
    """End an account with its stores, in the caller's transaction, which has its row locked. It asks no one, and sends no mail."""
    _end_sign_ins(person)
    forget(owner_of("person", person.pk))
    _empty(person, now)
    account_deleted.send(User, user=person, now=now)


def _end_sign_ins(person: User) -> None:
    for credentials in (*SIGN_INS, EmailAddress, WrongCode):
        credentials.objects.filter(user=person).delete()


def _empty(person: User, now: datetime) -> None:
    """The address, the name and the stores' addresses are free for others from the commit on."""
    person.email, person.name = f"{person.pk}@deleted.invalid", NAME
    person.pending_email, person.muted_mails, person.store_notices = "", [], {}
    person.last_login = None
    person.is_active, person.deleted_at = False, now
    person.set_unusable_password()
    person.save()
    for business in Business.objects.owned_by(person):
        business.name, business.slug, business.address = STORE_NAME, f"deleted-{business.pk.hex}", ""
        business.save(update_fields=["name", "slug", "address"])
