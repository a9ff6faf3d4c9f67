from django.dispatch import Signal

clock_advanced = Signal()
"""The clock of a test store has gone on. Arguments: `business` (accounts.Business), `by` (timedelta), `now` (aware datetime).

Sent in the transaction. Everything that waits for its time in that store is due earlier by so much.
"""
