from accounts.models.credentials import DeveloperToken, DeviceGrant, Session, SignIn, WrongCode
from accounts.models.people import Business, BusinessQuerySet, User, UserManager, normalize_email
from accounts.models.security_log import SecurityEvent

__all__ = [
    "Business",
    "BusinessQuerySet",
    "DeveloperToken",
    "DeviceGrant",
    "SecurityEvent",
    "Session",
    "SignIn",
    "User",
    "UserManager",
    "WrongCode",
    "normalize_email",
]
