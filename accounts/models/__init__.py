from accounts.models.credentials import DeveloperToken, DeviceGrant, Session, SignIn
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
    "normalize_email",
]
