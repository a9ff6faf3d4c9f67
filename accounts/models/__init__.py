from accounts.models.credentials import DeveloperToken, DeviceGrant, Session, SignIn, WrongCode
from accounts.models.mails import Mail
from accounts.models.people import Business, BusinessQuerySet, User, UserManager, normalize_email
from accounts.models.security_log import SecurityEvent
from accounts.models.staff import LASTS, Invitable, InvitableQuerySet, Staff

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
