"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from conformance.services import disposal, weekly


@shared_task
def remove_ended_checks() -> None:
    """Delete the throwaway stores of checks that have ended. Safe to run twice at once."""
    disposal.remove_ended()


@shared_task
def check_listed_apps() -> None:
    """Check the listed apps whose time of the week has come. May run several times at once."""
    weekly.check_due()
