"""Tasks (`config.schedule`). Each looks for work in the database, so it may be lost, repeated or late."""

from celery import shared_task

from common.db.leases import alone
from teststores import trials


@shared_task
@alone
def make_copies() -> None:
    """Make the copies of stores that somebody waits for. A run goes on while more are asked for, so one that begins meanwhile has nothing to do."""
    trials.make_copies()


@shared_task
def end_trials() -> None:
    """End the trials that are over, and empty their copies. May run twice at once."""
    trials.end_due()
