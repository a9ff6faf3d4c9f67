"""Scheduled tasks (`config.schedule`)."""

from uuid import UUID

from celery import shared_task

from common.db.alone import alone
from stores.models import StoreTotals
from stores.services import carts, customer_erasure, merchant_mails, order_mails, payments, removal, totals
from stores.services.catalogue import pictures


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


@shared_task
def erase_copies_of_customer(erasure_id: str) -> None:
    customer_erasure.erase_copies(erasure_id=UUID(erasure_id))


@shared_task
@alone
def sweep_erased_customers() -> None:
    customer_erasure.sweep()


@shared_task
def remove_records_of_deleted_stores() -> None:
    removal.remove_records_of_deleted_stores()


@shared_task
def remove_stray_pictures() -> None:
    pictures.remove_stray_files()


@shared_task
def mail_order_placed(order_id: str, encrypted_key: str) -> None:
    order_mails.send_placed(order_id=order_id, encrypted_key=encrypted_key)


@shared_task
def send_waiting_mails() -> None:
    order_mails.send_waiting()


@shared_task
def mail_order_status(order_id: str, status: str) -> None:
    order_mails.send_status(order_id=order_id, status=status)


@shared_task
def mail_merchants() -> None:
    merchant_mails.send_due()
