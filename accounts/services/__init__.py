"""Registering with a business, opening another one, new passwords, and making reviewers."""

from accounts.services.businesses import create_business, update_business
from accounts.services.profile import choose_new_password
from accounts.services.registration import Registration, create_reviewer, register
