"""Signals for higher-level apps. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

app_updated = Signal()
"""A developer edited the working copy. Arguments: `app`, `changed` (the names of the changed model fields), `now`.

Sent before the commit, with the app's row locked.
"""

fields_to_check = Signal()
"""What is wrong with fields of an app that only higher apps can judge? Arguments: `webhook_events` and `webhook_filter`, as they will be
saved. Receivers return `ErrorDetail`s under these names. Sent before the write; the row of an app that exists is locked.
"""

developer_left = Signal()
"""A person may no longer develop an app: removed, left, or a viewer now. Arguments: `app`, `user`, `now`. With the app's row locked.

Receivers end the person's test install, and what runs for it.
"""

app_deleted = Signal()
"""A developer deleted an app that was never approved, or the account with all its apps. Arguments: `app`, `now`.

Receivers end its installations, which are on sandbox stores.
"""

app_submitted = Signal()
"""A developer submitted an app for review. Arguments: `submission`, `now`. Sent with the app's row locked."""

submission_closed = Signal()
"""A submission is decided or withdrawn. Arguments: `submission` (with its new status), `now`."""

app_approved = Signal()
"""A reviewer approved an app. Arguments: `app`, `version` (the new `AppVersion`), `now`.

Its installations are updated after the commit, in batches (`AppVersion.followed_at`): a receiver only enqueues that.
"""

version_restored = Signal()
"""A developer put an earlier approved version back. Arguments: `app`, `version` (current again), `now`.

Its installations follow as they follow an approval.
"""

stores_to_reach = Signal()
"""Which stores does a release have to reach? Arguments: `version`. Receivers return the `place_of` of each installation."""

release_moved = Signal()
"""A release began a step, was halted, resumed, completed or taken back. Arguments: `app` and `release` (locked, as they are now),
`now`.

Installations follow after the commit, in batches, as they follow an approval.
"""

figures_to_keep = Signal()
"""How well has a version done until now? Arguments: `release`. Sent before the app is locked, because receivers read many rows. They return
the figures as JSON, which are kept with a release that ends.
"""

app_suspended = Signal()
"""A reviewer suspended an app: it is delisted, and its extensions are off. Arguments: `app`, `now`.

Tokens, listing, extensions and publishing read `App.suspended_at` at each use. Receivers only cancel waiting work.
"""

app_reinstated = Signal()
"""A reviewer lifted the suspension of an app. Arguments: `app`, `now`. Receivers: as for `app_suspended`."""
