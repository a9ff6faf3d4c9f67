"""Mails to buyers: a new store sends a limited number a day, and what is over waits."""

import re
from datetime import timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPServerDisconnected
from unittest.mock import Mock

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.utils import timezone

from stores.addresses import store_origin
from stores.enums import Accent
from stores.letterhead import ACCENTS
from stores.models import Order, WaitingMail
from stores.services.order_mails import send_waiting
from stores.services.orders import change_order_status
from tests import factories
from tests.pages import signed_in
from tests.pictures import upload
from tests.sessions import another_session
from tests.storefront.shopping import Shopper

pytestmark = pytest.mark.usefixtures("tasks_run_at_once")


@pytest.fixture(autouse=True)
def quiet(shop):
    """The merchant wants no mails about orders: these tests count those to buyers."""
    shop.owner.store_notices = {"new_orders": "off"}
    shop.owner.save()


@pytest.fixture
def bread(shop):
    return factories.product(shop, name="Bread", slug="bread", price=500, stock=None)


@pytest.fixture
def shopper(shop, bread):
    return Shopper(shop)


@pytest.fixture
def placing(shopper, bread, django_capture_on_commit_callbacks):
    """Places orders, each for another address, and has a worker send their mails."""

    def place(number):
        shopper.take(bread, 1)
        with django_capture_on_commit_callbacks(execute=True):
            return shopper.place(customer_email=f"kim{number}@example.com")["Location"]

    return place


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors",
    "A new store's mails over its limit for the day wait, and are sent once on a later day",
)
def test_mails_of_a_new_store_over_its_limit_wait(shop, bread, placing, shopper, mailoutbox, settings):
    settings.NEW_STORE_MAILS = 2
    with time_machine.travel("2026-11-20T10:00Z", tick=False):
        type(shop).objects.update(created_at=timezone.now())
        pages = [placing(number) for number in range(5)]
        assert [each.to for each in mailoutbox] == [["kim0@example.com"], ["kim1@example.com"]]
        assert send_waiting() == 0
    with time_machine.travel("2026-11-21T00:05Z", tick=False):
        assert send_waiting() == 2
        assert send_waiting() == 0
        placing(5)
    with time_machine.travel("2026-11-22T00:05Z", tick=False):
        assert send_waiting() == 2
    assert [each.to[0] for each in mailoutbox] == [f"kim{number}@example.com" for number in range(6)]
    for page, mail in zip(pages, mailoutbox, strict=False):
        assert page.rstrip("/").rpartition("/")[2] in mail.body
    assert not WaitingMail.objects.exists()


@pytest.mark.long
def test_store_of_a_week_has_no_limit(shop, bread, placing, mailoutbox, settings):
    settings.NEW_STORE_MAILS = 0
    placing(0)
    assert mailoutbox == []
    type(shop).objects.update(created_at=timezone.now() - timedelta(days=7))
    placing(1)
    assert send_waiting() == 1
    assert [each.to for each in mailoutbox] == [["kim1@example.com"], ["kim0@example.com"]]


def test_waiting_mail_that_fails_is_sent_by_the_next_run(
    shop, bread, placing, mailoutbox, settings, monkeypatch
):
    settings.NEW_STORE_MAILS = 0
    placing(0)
    settings.NEW_STORE_MAILS = 1
    with monkeypatch.context() as broken:
        broken.setattr(EmailMessage, "send", Mock(side_effect=SMTPServerDisconnected))
        assert send_waiting() == 0
    assert send_waiting() == 1, "the failure counted nothing"
    assert len(mailoutbox) == 1


@pytest.mark.long
def test_runs_in_vain_count_nothing_for_the_address(shop, bread, placing, mailoutbox, settings):
    settings.NEW_STORE_MAILS = 0
    placing(0)
    for _ in range(25):
        assert send_waiting() == 0
    settings.NEW_STORE_MAILS = 1
    assert send_waiting() == 1
    assert len(mailoutbox) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (SMTPServerDisconnected(), 1),
        (TimeoutError(), 1),
        (SMTPRecipientsRefused({}), 3),
        (SMTPDataError(550, b"No"), 3),
    ],
)
def test_mail_server_that_does_not_answer_ends_the_run(
    shop, bread, placing, settings, monkeypatch, error, attempts
):
    settings.NEW_STORE_MAILS = 0
    for number in range(3):
        placing(number)
    settings.NEW_STORE_MAILS = 9
    sending = Mock(side_effect=error)
    monkeypatch.setattr(EmailMessage, "send", sending)
    assert send_waiting() == 0
    assert (sending.call_count, WaitingMail.objects.count()) == (attempts, 3)


@pytest.mark.parametrize("changes", [{"status": "DELIVERED"}, {"customer_email": ""}])
def test_waiting_mail_that_is_outdated_is_not_sent(
    shop, bread, placing, mailoutbox, settings, changes, django_capture_on_commit_callbacks
):
    settings.NEW_STORE_MAILS = 1
    placing(0)
    with django_capture_on_commit_callbacks(execute=True):
        change_order_status(order=Order.objects.get(), status="READY")
    assert (len(mailoutbox), WaitingMail.objects.get().status) == (1, "READY")
    Order.objects.update(**changes)
    settings.NEW_STORE_MAILS = 2
    assert send_waiting() == 1
    assert (len(mailoutbox), WaitingMail.objects.count()) == (1, 0)


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_waiting_mail_is_sent_by_one_of_two_runs(shop, bread, shopper, mailoutbox, settings):
    settings.NEW_STORE_MAILS = 0
    shopper.take(bread, 1)
    shopper.place()
    settings.NEW_STORE_MAILS = 1
    with another_session() as other, other.cursor() as cursor:
        cursor.execute("SELECT 1 FROM stores_waitingmail FOR UPDATE")
        send_waiting()
        assert mailoutbox == []
    assert send_waiting() == 1
    assert len(mailoutbox) == 1


@pytest.mark.long
def test_mail_has_the_look_of_its_store(shop, mira, placing, shopper, mailoutbox, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    signed_in(mira).post(
        "/merchant/store/",
        {
            "name": "Mira's Bakery",
            "currency": "USD",
            "timezone": "UTC",
            "accent": "teal",
            "delivery_fee": "0",
            "logo": upload(),
        },
    )
    placing(0)
    html = mailoutbox[0].alternatives[0][0]
    assert "Mira&#x27;s Bakery" in html
    assert ACCENTS[Accent.TEAL][0] in html
    (loaded,) = re.findall(r'src="([^"]+)"', html)
    assert loaded.startswith(store_origin(shop.slug))
    assert shopper.get(loaded)["Content-Type"].startswith("image/")
