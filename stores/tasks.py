"""Work that comes due by the clock (`CELERY_BEAT_SCHEDULE`)."""

from celery import shared_task

from accounts.models import Business
from stores.services import payments, totals


@shared_task
def expire_payments() -> None:
    payments.expire_payments()


@shared_task
def recount_totals() -> None:
    for business in Business.objects.order_by("pk").iterator():
        totals.recount(business=business)
