"""Where commands to shops are seen: the app's log and thread, the operator's page, the metrics; and how they go."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from prometheus_client import REGISTRY

from accounts.models import Business, ConnectedStore, User
from accounts.services import shops
from activity import log
from extensions.models import ShopCommand
from extensions.tasks import remove_old_hook_calls
from installations.models import Installation
from stores.models import Order
from tests import factories
from tests.pages import signed_in, text_of
from tests.receivers import Receiver
from tests.storeapi.commanded import move, order, refusal
from tests.storeapi.rows import put
from tests.webhooks.helpers import webhook

pytestmark = pytest.mark.django_db(transaction=True)

WHY = "Paid <b>orders</b> can't move"


@pytest.fixture
def placed(shop: Client, store: ConnectedStore, reader: Installation) -> Order:
    put(shop, "orders/o-1")
    return Order.objects.get()


@pytest.fixture
def ada() -> User:
    return User.objects.create_superuser("ada@example.com", factories.PASSWORD)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def counted(outcome: str) -> float:
    labels = {"command": "order.set_status", "outcome": outcome}
    return REGISTRY.get_sample_value("extension_platform_shop_commands_total", labels) or 0.0


def test_log_names_what_came_of_the_command(
    asked: Receiver, placed: Order, api: Client, reader: Installation
) -> None:
    asked.respond_with(refusal(409, WHY), order(status="CONFIRMED"))
    answers = [move(api), move(api)]
    log.flush()
    pages = [page_of_call(reader, answer, "requests") for answer in answers]
    assert all(each.count("order.set_status") == 1 for each in pages)
    assert "Refused by the shop" in pages[0]
    assert "409 in" in pages[0]
    assert "The shop says so." in pages[0]
    assert "<b>orders</b>" not in pages[0]
    assert "Done" in pages[1]
    command = ShopCommand.objects.order_by("sent_at").last()
    assert command is not None
    assert str(command.command_id) in pages[1]


def test_thread_has_the_command_before_its_event(
    asked: Receiver, placed: Order, api: Client, reader: Installation, receiver: Receiver
) -> None:
    webhook(reader, receiver.url, ["order.status_changed"])
    asked.respond_with(order(status="CONFIRMED"))
    answer = move(api)
    log.flush()
    page = page_of_call(reader, answer, "threads")
    api_call, command, event = (
        page.index(each)
        for each in (
            "API call: PATCH",
            "Command to the shop: order.set_status",
            "Event: order.status_changed",
        )
    )
    assert api_call < command < event
    other = factories.developer("sam@example.com")
    theirs = factories.app(other)
    assert (
        signed_in(other).get(f"/portal/apps/{theirs.slug}/threads/{answer['X-Request-Id']}/").status_code
        == 404
    )


def page_of_call(reader: Installation, answer: Any, place: str) -> str:
    path = f"/portal/apps/{reader.app.slug}/{place}/{answer['X-Request-Id']}/"
    return " ".join(text_of(signed_in(User.objects.get(email="dana@example.com")).get(path), 200).split())


def test_operator_sees_counts_and_the_newest_that_failed(
    asked: Receiver, placed: Order, api: Client, connected: shops.Connected, ada: User
) -> None:
    page_of = f"/admin/accounts/shopsystem/{connected.system.pk}/change/"
    assert "Commands to the shop" not in text_of(signed_in(ada).get(page_of), 200)
    asked.respond_with(refusal(409, WHY), 500, order(status="CONFIRMED"))
    refused, failed, done = counted("refused"), counted("unreachable"), counted("done")
    for _ in range(3):
        move(api)
    assert (counted("refused"), counted("unreachable"), counted("done")) == (
        refused + 1,
        failed + 1,
        done + 1,
    )
    ShopCommand.objects.filter(outcome="REFUSED").update(sent_at=timezone.now() - timedelta(days=2))
    page = " ".join(text_of(signed_in(ada).get(page_of), 200).split())
    assert "Done: 1, No usable answer: 1" in page
    assert "It answered 500." in page
    assert "Paid &lt;b&gt;orders&lt;/b&gt;" in page


def test_commands_go_after_30_days(asked: Receiver, placed: Order, api: Client) -> None:
    asked.respond_with(500)
    move(api)
    move(api)
    first = ShopCommand.objects.order_by("sent_at")[0]
    ShopCommand.objects.filter(pk=first.pk).update(sent_at=timezone.now() - timedelta(days=30, minutes=1))
    remove_old_hook_calls()
    assert ShopCommand.objects.exclude(pk=first.pk).get() == ShopCommand.objects.get()


def test_bodies_of_other_peoples_orders_are_not_kept(asked: Receiver, placed: Order, api: Client) -> None:
    """Only of stores for tests, as with hook calls."""
    asked.respond_with(
        order(version=7, customer={"name": "Kim Erlach"}, total=3), order(status="CONFIRMED", version=8)
    )
    move(api)
    Business.objects.update(is_sandbox=True)
    move(api)
    shop, sandbox = ShopCommand.objects.order_by("sent_at")
    assert (shop.request_body, shop.answer_excerpt, "total" in shop.message) == ("", "", True)
    assert json.loads(sandbox.request_body)["command"] == "order.set_status"
    assert "CONFIRMED" in sandbox.answer_excerpt
