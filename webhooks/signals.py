"""Signals for the apps above. Receivers run in the transaction of the change (`send`)."""

from django.dispatch import Signal

erasure_begun = Signal()
"""The 48 hours after an uninstall are over, and the app is asked to erase the business's data, or can't be. Arguments:
`installation`, `now`. The platform deletes what it has recorded about this installation for the app's developer."""
