"""What the scheduler runs (`CELERY_BEAT_SCHEDULE`)."""

from celery import shared_task

from appapi.services import idempotency


@shared_task
def delete_expired_idempotency_keys() -> int:
    return idempotency.delete_expired()
