"""What the marketplace tells the floors above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

app_deleted = Signal()
"""A developer deleted an app that was never approved. Arguments: `app`, `now`.

Receivers end its test installs.
"""
