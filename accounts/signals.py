"""Signals of accounts to the apps above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

business_created = Signal()
"""A business has been created. Arguments: `business` (accounts.Business), `now` (aware datetime).

An exception in a receiver undoes the registration.
"""
