"""Registering with a business, opening another one, new passwords, and making reviewers."""

from accounts.services.businesses import create_business, update_business
from accounts.services.passwords import choose_new_password
from accounts.services.registration import Registration, register
from accounts.services.reviewers import create_reviewer

__all__ = [
    "Registration",
    "choose_new_password",
    "create_business",
    "create_reviewer",
    "register",
    "update_business",
]
