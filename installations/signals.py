"""Signals for the apps above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

installation_created = Signal()
"""An app has been installed on a business. Arguments: `installation`, `now`."""

installation_changed = Signal()
"""An active installation has new terms: its kind (test or not) or its granted scopes. Arguments:
`installation`, `now`."""

merchant_changed = Signal()
"""A merchant has decided something about an installed app: its terms, its settings, or whether it is paused. Arguments: `installation`,
locked; `before`, a copy of the row as it was; `now`. Both may say the same."""

approval_begun = Signal()
"""The installations of an app are about to follow its newest approval, in batches that may take minutes. Arguments:
`app`, `now`.

Sent outside any transaction, and maybe more than once. Receivers do what can't wait for those batches.
"""

versions_that_ask = Signal()
"""Which stores are asked for scripts, widgets, hooks or hosts, or about their data? Arguments: `app`, locked. Receivers return pairs:
the id of the version that such stores agreed to, and whether they are those that an open release has reached. These keep
`agreed_version` until their merchants say yes.
"""

approval_followed = Signal()
"""Active installations of an app follow its newest approval now: the version that they see, and maybe their terms.
Arguments: `app`, `installations` (some of them, each once, with app and business but without the webhook secret),
`now`.

An app may have many thousands: receivers take as many statements for all of `installations` as for one.
"""

installation_paused = Signal()
"""A merchant has paused an app. Arguments: `installation` (with `paused_at` set), `now`.

Hooks, extensions and the app API read `paused_at` at each use; receivers only have to stop what waits already.
"""

installation_resumed = Signal()
"""A merchant lets a paused app run again. Arguments: `installation` (`paused_at` is empty again), `now`."""

installation_removed = Signal()
"""An installation has ended: the internal event `app.uninstalled`. Arguments: `installation`
(with `uninstalled_at` set), `now`.

The token is dead already. Receivers switch off what the installation brought, in the same transaction.
"""
