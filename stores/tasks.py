"""Scheduled tasks (`config.schedule`)."""

from uuid import UUID

from celery import shared_task

from accounts.tasks import send_mails
from common.db.fields import decrypt
from common.db.leases import alone
from common.db.rows import for_each
from stores import customers
from stores.buyers import shoppers
from stores.connected import framing, mirror, quotes
from stores.connected import payments as shop_payments
from stores.models import Order
from stores.services import carts, customer_erasure, merchant_mails, order_mails, payments, totals
from stores.services.catalogue import pictures


@shared_task
def expire_payments() -> None:
    payments.expire_payments()
    shop_payments.expire_payments()


@shared_task
def recount_totals() -> None:
    for_each(totals.drifted(), lambda row: totals.recount(business=row.business), task="recount_totals")


@shared_task
def remove_old_carts() -> None:
    """And what makes people known who haven't ordered for long."""
    carts.remove_old_carts()
    shoppers.remove_old()


@shared_task
def remove_old_mentions() -> None:
    """Ids that shops mentioned, and quotes, that nothing came of."""
    mirror.remove_old_mentions()
    quotes.remove_old()


@shared_task
def erase_copies_of_customer(erasure_id: str) -> None:
    customer_erasure.erase_copies(erasure_id=UUID(erasure_id))


@shared_task
@alone
def complete_keys_of_customers() -> None:
    customers.complete_keys()


@shared_task
@alone
def sweep_erased_customers() -> None:
    customer_erasure.sweep()


@shared_task
def remove_records_of_deleted_stores() -> None:
    customer_erasure.remove_records_of_deleted_stores()


@shared_task
@alone
def remove_ended_stores() -> None:
    customer_erasure.remove_ended_stores()


@shared_task
@alone
def look_at_pages() -> None:
    """Servers that are slow or silent take one thread of one worker."""
    framing.look_at_pages()


@shared_task
def remove_stray_pictures() -> None:
    pictures.remove_stray_files()


@shared_task
def mail_order_placed(order_id: str, encrypted_key: str) -> None:
    """What a process of the version before sends, during an upgrade."""
    for order in Order.objects.filter(pk=order_id):
        order_mails.mail_placed(order=order, page_key=decrypt(encrypted_key))


@shared_task
def send_waiting_mails() -> None:
    order_mails.take_over_waiting()


@shared_task
def mail_order_status(order_id: str, status: str) -> None:
    """What a process of the version before sends, during an upgrade."""
    for order in Order.objects.filter(pk=order_id, status=status):
        order_mails.mail_status(order=order)


@shared_task
def mail_merchants() -> None:
    merchant_mails.send_due()
    send_mails()  # which the scheduler of release 0.2.0 doesn't know, during an upgrade
