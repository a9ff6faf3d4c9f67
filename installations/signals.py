"""What installations tell the floors above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

installation_created = Signal()
"""An app has been installed on a business. Arguments: `installation`, `now`."""

installation_changed = Signal()
"""An active installation has new terms: its kind (test or not) or its granted scopes. Arguments:
`installation`, `now`."""

approval_followed = Signal()
"""Active installations of an app follow its newest approval now: the version that they see, and maybe their terms.
Arguments: `app`, `installations` (some of them, each once, with app and business but without the webhook secret),
`now`.

An app may have many thousands: receivers take as many statements for all of `installations` as for one.
"""

installation_removed = Signal()
"""An installation has ended: the internal event `app.uninstalled`. Arguments: `installation`
(with `uninstalled_at` set), `now`.

The token is dead already. Receivers switch off what the installation brought, in the same transaction.
"""
