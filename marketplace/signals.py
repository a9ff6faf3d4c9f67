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

app_approved = Signal()
"""A reviewer approved an app. Arguments: `app`, `version` (the new `AppVersion`), `now`.

Its installations follow after the commit, in batches (`AppVersion.followed_at`): a receiver only asks for that.
"""

app_suspended = Signal()
"""A reviewer suspended an app: it is delisted, and its extensions are off. Arguments: `app`, `now`.

Nothing has to be switched off: tokens, listing and webhooks read `App.suspended_at`. The signal is for what is kept
beside it, like extensions that were rendered or cached.
"""

app_reinstated = Signal()
"""A reviewer lifted the suspension of an app. Arguments: `app`, `now`. For whom: as `app_suspended`."""
