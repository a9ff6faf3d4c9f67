"""Scheduled tasks (`config.schedule`)."""

from celery import shared_task

from conformance.services import disposal


@shared_task
def remove_ended_checks() -> None:
    """Delete the throwaway stores of checks that have ended. Safe to run twice at once."""
    disposal.remove_ended()
