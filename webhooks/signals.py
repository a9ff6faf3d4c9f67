"""Signals for the apps above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

settings_to_change = Signal()
"""A developer wants the app's settings changed on a sandbox store, as its merchant would. Arguments: `installation`, `values`: the new
ones, or None for whatever its schema lets one change. A receiver saves them, and returns whether there was something to change."""

erasure_begun = Signal()
"""The 48 hours after an uninstall are over, and the app is asked to erase the business's data, or can't be. Arguments:
`installation`, `now`. The platform deletes what it has recorded about this installation for the app's developer, and what the app has put into orders."""
