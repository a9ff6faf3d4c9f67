from accounts.models.credentials import DeveloperToken, DeviceGrant, SecurityEvent, Session, SignIn, WrongCode
from accounts.models.mails import Mail
from accounts.models.people import (
    LASTS,
    Business,
    BusinessQuerySet,
    Invitable,
    InvitableQuerySet,
    Staff,
    User,
    UserManager,
    normalize_email,
)

__all__ = [
    "LASTS",
    "Business",
    "BusinessQuerySet",
    "DeveloperToken",
    "DeviceGrant",
    "Invitable",
    "InvitableQuerySet",
    "Mail",
    "SecurityEvent",
    "Session",
    "SignIn",
    "Staff",
    "User",
    "UserManager",
    "WrongCode",
    "normalize_email",
]
