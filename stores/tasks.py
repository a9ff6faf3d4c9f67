"""Scheduled tasks (`CELERY_BEAT_SCHEDULE`)."""

from celery import shared_task

from stores.models import StoreTotals
from stores.services import carts, payments, totals


@shared_task
def expire_payments() -> None:
    payments.expire_payments()


@shared_task
def recount_totals() -> None:
    for store in StoreTotals.objects.select_related("business").order_by("pk").iterator():
        totals.recount(business=store.business)


@shared_task
def remove_old_carts() -> None:
    carts.remove_old_carts()
