"""Tasks; all are periodic (`config.schedule`)."""

from celery import shared_task

from appapi.services import exports, idempotency


@shared_task
def delete_expired_idempotency_keys() -> int:
    return idempotency.delete_expired()


@shared_task
def make_exports() -> int:
    return exports.make_exports()


@shared_task
def delete_expired_exports() -> int:
    return exports.delete_expired()
