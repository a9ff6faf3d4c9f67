"""What the marketplace tells the floors above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

app_updated = Signal()
"""A developer edited the working copy. Arguments: `app`, `changed` (names of the model fields whose value
is another one now), `now`.

Sent before the commit, with the app's row locked.
"""

app_deleted = Signal()
"""A developer deleted an app that was never approved. Arguments: `app`, `now`.

Receivers end its test installs.
"""
