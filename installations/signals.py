"""What installations tell the floors above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

installation_created = Signal()
"""An app has been installed on a business. Arguments: `installation`, `now`."""

installation_changed = Signal()
"""An active installation has new terms: its kind (test or not) or its granted scopes. Arguments:
`installation`, `now`."""

installation_removed = Signal()
"""An installation has ended: the internal event `app.uninstalled`. Arguments: `installation`
(with `uninstalled_at` set), `now`.

The token is dead already. Receivers switch off what the installation brought, in the same transaction.
"""
