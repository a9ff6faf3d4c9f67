"""Signals of accounts to the apps above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

business_created = Signal()
"""A business has been created. Arguments: `business` (accounts.Business), `with_samples`, `now` (aware datetime).

An exception in a receiver undoes the registration.
"""

account_deletion_asked = Signal()
"""Someone asks whether an account can be deleted. Arguments: `user`, `locking`.

A receiver returns a sequence of `accounts.services.deletion.Obstacle`, empty if it knows none. With `locking`, the
account is deleted in this transaction unless a receiver objects: a receiver locks what its answer depends on.
"""

account_deleted = Signal()
"""An account is being deleted, and its row no longer says whose it was. Arguments: `user`, `now`.

Receivers end what the person owned, or enqueue that. An exception undoes the deletion.
"""
