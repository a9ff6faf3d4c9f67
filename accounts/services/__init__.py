"""What people do here: register with a business, open another one, get a new password."""

from accounts.services.businesses import create_business
from accounts.services.passwords import send_password_reset
from accounts.services.registration import Registration, register

__all__ = ["Registration", "create_business", "register", "send_password_reset"]
