"""Registering a person together with the business that the role comes with. An administrator makes reviewers (contract section 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, IntegrityError, transaction
from django.utils import timezone

from accounts.enums import SELF_REGISTERED, Role, SecurityEventKind
from accounts.models import Business, User, normalize_email
from accounts.public_names import check_public_name
from accounts.services import security_log
from accounts.services.businesses import create_business
from accounts.services.confirmation import confirm, mail_confirmation
from common.errors import Conflict, ErrorDetail, Invalid, field_problems

USER_FIELDS = {"email": "email", "name": "name"}
BUSINESS_FIELDS = {
    "name": "businessName",
    "type": "businessType",
    "address": "address",
    "currency": "currency",
    "timezone": "timezone",
}
TAKEN = "An account with this e-mail address already exists."


@dataclass(frozen=True, slots=True)
class Registration:
    user: User
    business: Business


def register(
    *,
    email: str,
    password: str,
    name: str,
    role: str,
    business_name: str = "",
    business_type: str = "",
    address: str = "",
    currency: str = "USD",
    business_timezone: str = "UTC",
    next_url: str = "",
    now: datetime | None = None,
) -> Registration:
    """Create an account, and with it a developer's sandbox or a merchant's business.

    Where addresses must be confirmed, the person gets a mail with a link, which then leads on to `next_url`.

    Raises `Invalid` with every problem under its name on the wire, and `Conflict` for a taken address.
    """
    now = now or timezone.now()
    user = User(email=normalize_email(email), name=name.strip(), role=role, date_joined=now)
    business = _first_business(user, business_name, business_type, address, currency, business_timezone)
    made = _save(user, password, business, next_url, now)
    assert made is not None
    return Registration(user=user, business=made)


def register_without_store(*, email: str, password: str, name: str, now: datetime | None = None) -> User:
    """Create the account of a merchant who works in somebody else's store. Raises like `register`."""
    now = now or timezone.now()
    user = User(email=normalize_email(email), name=name.strip(), role=Role.MERCHANT, date_joined=now)
    _save(user, password, None, "", now)
    return user


def register_without_password(*, email: str, name: str, role: str, now: datetime | None = None) -> User:
    """Create the account of a person whose address is confirmed already. A developer gets a sandbox, a merchant no store.

    Raises like `register`.
    """
    now = now or timezone.now()
    user = User(email=normalize_email(email), name=name.strip(), role=role, date_joined=now)
    sandbox = _first_business(user, "", "", "", "USD", "UTC") if role == Role.DEVELOPER else None
    _check(user, sandbox)
    if User.objects.with_email(user.email):
        raise Conflict(TAKEN, code="account_exists")
    user.set_unusable_password()
    with transaction.atomic():
        _insert(user)
        security_log.record(user_id=user.pk, kind=SecurityEventKind.REGISTERED)
        confirm(user=user)
        if sandbox:
            _opened(user, sandbox, now)
    return user


def _save(
    user: User, password: str, business: Business | None, next_url: str, now: datetime
) -> Business | None:
    _check(user, business, _password_problems(password, user))
    if User.objects.with_email(user.email):
        raise Conflict(TAKEN, code="account_exists")
    user.set_password(password)  # slow on purpose, so not while a transaction holds locks
    with transaction.atomic():
        _insert(user)
        security_log.record(user_id=user.pk, kind=SecurityEventKind.REGISTERED)
        if settings.CONFIRM_ADDRESSES:
            # Not only with the mail: without this row, the library would let an unconfirmed person add a passkey.
            EmailAddress.objects.create(user=user, email=user.email)
            mail_confirmation(email=user.email, next_url=next_url)
        return _opened(user, business, now) if business else None


def _opened(owner: User, wished: Business, now: datetime) -> Business:
    return create_business(
        owner=owner,
        name=wished.name,
        type=wished.type,
        address=wished.address,
        currency=wished.currency,
        timezone=wished.timezone,
        is_sandbox=wished.is_sandbox,
        now=now,
    )


@transaction.atomic
def register_in_vain(**fields: Any) -> None:
    """Do the work of a registration and keep nothing of it.

    For an address that is taken: a page that answers at once would tell that there is an account.
    """
    register(**(fields | {"email": f"{uuid4().hex}@invalid.example"}))
    transaction.set_rollback(True)


def _first_business(user: User, name: str, kind: str, address: str, currency: str, timezone: str) -> Business:
    """The business that the role comes with, as it is wished; a developer's is always a sandbox in USD and UTC."""
    if user.role == Role.DEVELOPER:
        return Business(name=f"{user.name[:100]}'s sandbox", is_sandbox=True)
    return Business(
        name=name.strip(),
        type=kind.strip(),
        address=address.strip(),
        currency=currency,
        timezone=timezone,
    )


def _check(user: User, business: Business | None, of_password: Sequence[ErrorDetail] = ()) -> None:
    problems = field_problems(user, USER_FIELDS)
    problems += of_password
    if user.role not in SELF_REGISTERED:
        problems.append({"field": "role", "message": f"Must be one of: {', '.join(SELF_REGISTERED)}."})
    names = {"name": user.name}
    if user.role == Role.MERCHANT and business is not None:
        problems += field_problems(business, BUSINESS_FIELDS)
        names["businessName"] = business.name
    refused = {problem["field"] for problem in problems}
    for field, name in names.items():
        problems += [] if field in refused else _name_problems(field, name)
    if problems:
        raise Invalid.fields(problems)


def _name_problems(field: str, name: str) -> list[ErrorDetail]:
    try:
        check_public_name(name)
    except ValueError as error:
        return [{"field": field, "message": str(error)}]
    return []


def _password_problems(password: str, user: User) -> list[ErrorDetail]:
    try:
        validate_password(password, user)
    except ValidationError as error:
        return [{"field": "password", "message": message} for message in error.messages]
    return []


def _insert(user: User) -> None:
    """Of two registrations of one address at the same time, the unique column lets one through."""
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(TAKEN, code="account_exists") from error


GROUP: Final = "Reviewers"


@transaction.atomic
def create_reviewer(*, email: str, name: str, password: str | None = None) -> User:
    """A person who may review apps, and nothing else in the administration. Without a password, signing in isn't possible."""
    reviewer = User.objects.create_user(email, password, name=name, role=Role.REVIEWER, is_staff=True)
    reviewer.groups.add(reviewer_group())
    return reviewer


def reviewer_group(*, using: str = DEFAULT_DB_ALIAS) -> Group:
    """The group that reviewers belong to. `developers.review` gives it its rights."""
    return Group.objects.using(using).get_or_create(name=GROUP)[0]
