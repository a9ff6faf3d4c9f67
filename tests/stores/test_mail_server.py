"""Mails of stores by a real mail server: whose they are, and what becomes of those that it doesn't take."""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Business, Mail, User
from accounts.services import confirmation, profile
from accounts.services.outbox import mail_security_change
from accounts.services.sender import send_due
from accounts.services.staff import STAFF
from accounts.tasks import send_mails
from stores.models import BuyerMails, Order
from stores.services.order_mails import mail_placed
from tests import factories
from tests.mail_server import MailServer, mail_server
from tests.ports import free_port
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

# As copied from a list of contacts: Python can't write its host. It passed every form once, and may be stored.
UNWRITABLE = f"secret.kim@{'ä' * 70}.example"  # no label is that long
REFUSED = "secret.sam@example.com"


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    with mail_server(settings) as running:
        running.refused[REFUSED] = f"550 <{REFUSED}>: no such user"
        yield running


@pytest.fixture
def three(db: None) -> list[Business]:
    """New stores of three people."""
    people = [factories.merchant(f"m{number}@example.com") for number in range(3)]
    return [Business.objects.get(owner=person) for person in people]


def order(store: Business, email: str) -> Order:
    return factories.order(store, customer_email=email, page_key_digest=email[:60])


def order_placed(store: Business, address: str) -> None:
    mail_placed(order=order(store, address), page_key="key")


def test_every_other_mail_arrives(server: MailServer, three: list[Business]) -> None:
    """Ten buyers of three stores, one of whom has an address that can't be written, and one whose mailbox is gone."""
    addresses = [f"b{number}@example.com" for number in range(8)]
    for number, address in enumerate([UNWRITABLE, REFUSED, *addresses]):
        order_placed(three[number % 3], address)
    assert send_due() == 8
    assert sorted(address for address, _ in server.taken) == addresses
    assert {mail.to for mail in Mail.objects.all()} == {UNWRITABLE, REFUSED}


def password_reset(store: Business, address: str) -> None:
    User.objects.filter(pk=store.owner_id).update(email=address)
    profile.mail_reset(email=address)


def account_exists(store: Business, address: str) -> None:
    User.objects.filter(pk=store.owner_id).update(email=address)
    confirmation.mail_account_exists(email=address)


def invitation(store: Business, address: str) -> None:
    row = STAFF.invite(store, by=store.owner, email="kim@example.com", role="MANAGER")
    store.staff.filter(pk=row.id).update(email=address)
    Mail.objects.update(to=address)


def security_notice(store: Business, address: str) -> None:
    mail_security_change(user=User(email=address), change="Words.")


CAUSES = [order_placed, password_reset, account_exists, invitation, security_notice]


@pytest.mark.parametrize("address", [REFUSED, UNWRITABLE])
@pytest.mark.parametrize("cause", CAUSES)
def test_refused_recipient_is_no_crash_and_in_no_log(
    server: MailServer,
    shop: Business,
    caplog: pytest.LogCaptureFixture,
    cause: Callable[..., None],
    address: str,
) -> None:
    cause(shop, address)
    with caplog.at_level(logging.DEBUG):
        assert send_mails.apply().state == "SUCCESS"
    assert "was not sent: " in caplog.text
    assert "secret." not in caplog.text
    assert not server.taken


@pytest.mark.parametrize("cause", CAUSES)
def test_mail_server_that_is_away_is_logged_without_naming_anybody(
    settings: Any, shop: Business, caplog: pytest.LogCaptureFixture, cause: Callable[..., None]
) -> None:
    with mail_server(settings):
        settings.EMAIL_PORT = free_port()
        cause(shop, "secret.kim@example.com")
        with caplog.at_level(logging.DEBUG):
            assert send_mails.apply().state == "SUCCESS"
    assert "The mail server fails (ConnectionRefusedError)" in caplog.text
    assert "secret." not in caplog.text


def test_answers_to_a_store_reach_its_owner(server: MailServer, shop: Business, settings: Any) -> None:
    settings.CONFIRM_ADDRESSES = False
    order_placed(shop, "kim@example.com")
    account_exists(shop, shop.owner.email)
    send_due()
    settings.CONFIRM_ADDRESSES = True
    order_placed(shop, "ann@example.com")
    send_due()
    assert server.to("kim@example.com")[0]["Reply-To"] == shop.owner.email
    assert server.to(shop.owner.email)[0]["Reply-To"] is None
    assert server.to("ann@example.com")[0]["Reply-To"] is None, (
        "the address isn't confirmed, and may be a stranger's"
    )
    assert {mail["Auto-Submitted"] for _, mail in server.taken} == {"auto-generated"}


@pytest.mark.postgres
def test_mails_of_all_stores_at_once_keep_the_limit_of_their_owner(
    server: MailServer, shop: Business, settings: Any
) -> None:
    settings.NEW_STORE_MAILS = 4
    for store in (shop, factories.business(shop.owner), factories.business(shop.owner)):
        for number in range(3):
            order_placed(store, f"{store.slug}.{number}@example.com")
    at_once(*[send_mails] * 9)
    assert len(server.taken) == 4
    assert sum(BuyerMails.objects.values_list("sent", flat=True)) == 4
    assert Mail.objects.filter(not_before__gt=timezone.now()).count() == 5
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert send_due() == 4
