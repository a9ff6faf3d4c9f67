"""Mails to buyers: a new store sends a limited number a day, and what is over waits."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Mail
from accounts.services.sender import send_due
from stores.addresses import store_origin
from stores.enums import Accent
from stores.models import Order, WaitingMail
from stores.services.order_mails import ACCENTS, mail_placed, take_over_waiting
from stores.services.orders import change_order_status
from tests import factories
from tests.mail_server import mail_server
from tests.pages import signed_in
from tests.pictures import upload
from tests.ports import free_port
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
        for number in range(5):
            placing(number)
        assert [each.to for each in mailoutbox] == [["kim0@example.com"], ["kim1@example.com"]]
        assert send_due() == 0
    with time_machine.travel("2026-11-21T00:05Z", tick=False):
        assert send_due() == 2
        assert send_due() == 0
        placing(5)
    with time_machine.travel("2026-11-22T00:05Z", tick=False):
        assert send_due() == 2
    assert [each.to[0] for each in mailoutbox] == [f"kim{number}@example.com" for number in range(6)]
    ids = list(Order.objects.order_by("id").values_list("pk", flat=True))
    for order_id, mail in zip(ids, mailoutbox, strict=True):
        assert f"/orders/{order_id}." in mail.body
    assert not Mail.objects.exists()


@pytest.mark.long
def test_store_of_a_week_has_no_limit(shop, bread, placing, mailoutbox, settings):
    settings.NEW_STORE_MAILS = 0
    placing(0)
    assert mailoutbox == []
    type(shop).objects.update(created_at=timezone.now() - timedelta(days=7))
    placing(1)
    assert [each.to for each in mailoutbox] == [["kim1@example.com"]]
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert send_due() == 1
    assert [each.to for each in mailoutbox] == [["kim1@example.com"], ["kim0@example.com"]]


@pytest.mark.long
def test_mails_that_wait_for_another_day_count_nothing(shop, bread, placing, mailoutbox, settings):
    """Neither for the limit of the address, nor, where the mail server fails, for that of the store."""
    settings.NEW_STORE_MAILS = 0
    placing(0)
    for day in range(1, 6):
        with time_machine.travel(timezone.now() + timedelta(days=day)):
            type(shop).objects.update(created_at=timezone.now())
            assert send_due() == 0
    settings.NEW_STORE_MAILS = 1
    with time_machine.travel(timezone.now() + timedelta(days=6)) as clock:
        with mail_server(settings):
            settings.EMAIL_PORT = free_port()
            assert send_due() == 0
        settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
        clock.shift(timedelta(minutes=1))
        assert send_due() == 1
    assert len(mailoutbox) == 1


@pytest.mark.parametrize("changes", [{"status": "DELIVERED"}, {"customer_email": ""}])
def test_waiting_mail_that_is_outdated_is_not_sent(
    shop, bread, placing, mailoutbox, settings, changes, django_capture_on_commit_callbacks
):
    settings.NEW_STORE_MAILS = 1
    placing(0)
    with django_capture_on_commit_callbacks(execute=True):
        change_order_status(order=Order.objects.get(), status="READY")
    assert (len(mailoutbox), Mail.objects.get().kind) == (1, "order-status")
    Order.objects.update(**changes)
    settings.NEW_STORE_MAILS = 2
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert send_due() == 0
    assert (len(mailoutbox), Mail.objects.count()) == (1, 0)


def test_mails_that_the_version_before_has_kept_are_sent(shop, mailoutbox):
    order = factories.order(shop, customer_email="kim@example.com", page_key_digest="d", status="READY")
    WaitingMail.objects.create(business=shop, order=order, page_key="the-key")
    WaitingMail.objects.create(business=shop, order=order, status="READY")
    assert (take_over_waiting(), take_over_waiting()) == (2, 0)
    assert send_due() == 2
    assert "/orders/" in mailoutbox[0].body
    assert "is ready" in mailoutbox[1].subject


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


def test_mail_names_the_time_of_the_store(shop, mailoutbox):
    shop.timezone, shop.locale = "Asia/Tokyo", "fr"
    shop.save()
    order = factories.order(shop, number="1001", customer_email="kim@example.com", page_key_digest="d")
    factories.payment(order, expires_at=datetime(2099, 11, 20, 18, 30, tzinfo=UTC))
    mail_placed(order=order, page_key="the-key")
    send_due()
    assert "21 nov. 2099 à 03:30 JST" in mailoutbox[0].body
