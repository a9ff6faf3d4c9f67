"""Registering a person together with the business that the role comes with."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.enums import SELF_REGISTERED, Role
from accounts.models import Business, User, normalize_email
from accounts.services.businesses import create_business
from common.errors import Conflict, ErrorDetail, Invalid
from common.validation import field_problems

USER_FIELDS = {"email": "email", "name": "name"}
BUSINESS_FIELDS = {
    "name": "businessName",
    "type": "businessType",
    "address": "address",
    "currency": "currency",
}
TAKEN = "There is an account with this e-mail address already."


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
    now: datetime | None = None,
) -> Registration:
    """Create an account, and with it a developer's sandbox or a merchant's business.

    Raises `Invalid` with every problem under its name on the wire, and `Conflict` for a taken address.
    """
    now = now or timezone.now()
    user = User(email=normalize_email(email), name=name.strip(), role=role, date_joined=now)
    business = _first_business(user, business_name, business_type, address, currency)
    _check(user, password, business)
    if User.objects.filter(email=user.email).exists():
        raise Conflict(TAKEN)
    user.set_password(password)  # slow on purpose, so not while a transaction holds locks
    with transaction.atomic():
        _insert(user)
        made = create_business(
            owner=user,
            name=business.name,
            type=business.type,
            address=business.address,
            currency=business.currency,
            is_sandbox=business.is_sandbox,
            now=now,
        )
    return Registration(user=user, business=made)


def _first_business(user: User, name: str, kind: str, address: str, currency: str) -> Business:
    """The business that the role comes with, as it is wished; a developer's is always a sandbox in USD."""
    if user.role == Role.DEVELOPER:
        return Business(name=f"{user.name[:100]}'s sandbox", is_sandbox=True)
    return Business(name=name.strip(), type=kind.strip(), address=address.strip(), currency=currency)


def _check(user: User, password: str, business: Business) -> None:
    problems = field_problems(user, USER_FIELDS)
    problems += _password_problems(password, user)
    if user.role not in SELF_REGISTERED:
        problems.append({"field": "role", "message": f"Must be one of: {', '.join(SELF_REGISTERED)}."})
    elif user.role == Role.MERCHANT:
        problems += field_problems(business, BUSINESS_FIELDS)
    if problems:
        raise Invalid.fields(problems)


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
        raise Conflict(TAKEN) from error
