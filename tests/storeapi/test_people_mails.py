"""Notices to people of connected stores: to the address that the shop named, without anything that people typed (contract, section 17,
"People").
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore, Mail, User
from accounts.services.profile import mail_reset
from accounts.services.sender import send_due
from accounts.services.shops import Connected
from extensions.services.notices import notify_merchants
from installations.models import Installation
from tests.merchants.pages import ask_for_more, installed, listed_app
from tests.pages import words_of
from tests.storeapi.people import signed_in_by, ticket
from tests.webhooks.helpers import webhook
from webhooks.enums import ErasureState
from webhooks.models import Erasure
from webhooks.services.erasure_mails import mail_merchant

pytestmark = pytest.mark.django_db

PEOPLE = {
    "kim": ("Kim Lee, call +1 555 0100", "kim@shop.example", "OWNER"),
    "tom": ("Tom Ox", "tom@shop.example", "MANAGER"),
    "ann": ("Ann Bo", "ann@shop.example", "ORDERS"),
    "lou": ("Lou Fox", "KIM@shop.example", "MANAGER"),  # one mailbox with Kim
    "max": ("Max Moe", "", "OWNER"),
}


@pytest.fixture
def bell(
    shop: Client, connected: Connected, dana: User, django_capture_on_commit_callbacks: Any
) -> Installation:
    store = shop.put(
        "/store-api/stores/main", {"name": "Win at www.evil.example", "currency": "USD"}, "application/json"
    )
    for key, (name, email, role) in PEOPLE.items():
        ticket(shop, person={"id": key, "name": name, "email": email}, role=role)
    app = listed_app(dana, ["read_products"], name="Bell", webhook_url="https://bell.example/hooks")
    return installed(app, ConnectedStore.objects.get(pk=store.json()["id"]).business)


def question(bell: Installation) -> None:
    ask_for_more(bell, ["read_products", "read_orders"], reason="Write to evil@evil.example")
    notify_merchants()


def erasure(bell: Installation) -> None:
    row = Erasure.objects.create(installation=bell, state=ErasureState.UNADDRESSED, due_at=timezone.now())
    mail_merchant(row.pk)


def trouble(bell: Installation) -> None:
    since = timezone.now() - timedelta(days=2)
    webhook(bell, "https://bell.example/hooks", ["product.created"], failing_since=since)
    notify_merchants()


CAUSES = [question, erasure, trouble]


@pytest.mark.parametrize("cause", CAUSES)
def test_owners_and_managers_are_mailed_once_for_each_address(
    bell: Installation, mailoutbox: Any, cause: Callable[[Installation], None]
) -> None:
    cause(bell)
    assert not Mail.objects.filter(to__endswith=".invalid").exists()
    send_due()
    assert sorted(each.to[0] for each in mailoutbox) == ["kim@shop.example", "tom@shop.example"]
    for mail in mailoutbox:
        text = mail.subject + mail.body + "".join(str(each[0]) for each in mail.alternatives)
        assert "Bell" in mail.subject
        assert "your store" in mail.subject
        for typed in ("evil", "Kim", "Tom", "555", "Win at"):
            assert typed not in text, typed
        assert "/merchant/apps/" in mail.body


@pytest.mark.parametrize("cause", CAUSES)
def test_who_leaves_a_kind_out_gets_none(
    shop: Client, bell: Installation, mailoutbox: Any, cause: Callable[[Installation], None]
) -> None:
    browser = signed_in_by(
        shop, person={"id": "tom", "name": "Tom Ox", "email": "tom@shop.example"}, role="MANAGER"
    )
    page = browser.get("/merchant/notices/")
    assert "Mails go to tom@shop.example." in words_of(page)
    person = User.objects.get(name="Tom Ox")
    person.muted_mails = ["permission_questions", "erasures", "failing_apps"]
    person.save(update_fields=["muted_mails"])
    cause(bell)
    send_due()
    assert [each.to[0] for each in mailoutbox] == ["kim@shop.example"]


def test_newest_ticket_names_the_address(shop: Client, bell: Installation, mailoutbox: Any) -> None:
    ticket(shop, person={"id": "kim", "name": "Kim", "email": None}, role="OWNER")
    ticket(shop, person={"id": "lou", "name": "Lou", "email": "lou@shop.example"}, role="ORDERS")
    shop.delete("/store-api/stores/main/people/tom")
    question(bell)
    send_due()
    assert mailoutbox == []
    page = signed_in_by(shop, person={"id": "kim", "name": "Kim"}, role="OWNER").get("/merchant/notices/")
    assert "Nothing is mailed, since no e-mail address of yours is known here." in words_of(page)


def test_end_of_a_person_takes_no_mail_of_a_neighbour(
    shop: Client, bell: Installation, mailoutbox: Any
) -> None:
    """A shop may name any address, somebody's with an account here too."""
    mail_reset(email="tom@shop.example")
    shop.delete("/store-api/stores/main/people/tom")
    assert Mail.objects.filter(to="tom@shop.example").count() == 1
