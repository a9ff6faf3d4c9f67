"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from common.db.leases import alone
from conformance.services import runs, weekly


@shared_task
def remove_ended_checks() -> None:
    """Delete the throwaway stores of checks that have ended. Safe to run twice at once."""
    runs.remove_ended()


@shared_task
@alone
def check_listed_apps() -> None:
    """Check the listed apps whose time of the week has come."""
    weekly.check_due()
