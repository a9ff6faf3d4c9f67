"""The month behind a demo, without starting one."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client

from accounts.models import User
from config.demo.people import merchants_shop
from config.management.commands.demo import begin
from extensions.models import HookCall
from installations.models import Installation
from marketplace.models import App
from stores.models import MerchantNews, Order
from tests.pages import HTML, words_of
from webhooks.enums import WAITING
from webhooks.models import Attempt, DailyDeliveryCount, Delivery, Erasure, Event

pytestmark = [pytest.mark.django_db, pytest.mark.long]

SIGN_INS = ("developer@example.com", "merchant@example.com", "reviewer@example.com")


# The events of the month depend on its weekdays.
TUESDAY = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.fixture
def begun(settings: Any, tmp_path: Path) -> Iterator[datetime]:
    """When a demo has started for the first time."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with time_machine.travel(TUESDAY):
        begin(state_file=tmp_path / "state", url="http://localhost:9", now=TUESDAY)
        yield TUESDAY


def test_month_is_behind_the_demo_and_nothing_of_it_waits(begun: datetime) -> None:
    of_month = Order.objects.filter(business=merchants_shop(), created_at__gt=begun - timedelta(30))
    assert of_month.count() > 50
    assert Event.objects.latest("occurred_at").occurred_at < begun
    assert Attempt.objects.latest("attempted_at").attempted_at < begun
    assert HookCall.objects.latest("called_at").called_at < begun
    assert not Delivery.objects.filter(status__in=WAITING).exists()
    assert not Delivery.objects.exclude(due_at=None).exists()
    assert not Erasure.objects.exists()
    assert not MerchantNews.objects.exists()
    assert mail.outbox == []


def test_made_apps_and_stores_can_do_nothing(begun: datetime) -> None:
    made = App.objects.exclude(slug="order-bell")
    assert made.count() == 7
    assert not made.exclude(webhook_url="").exists()
    assert not Installation.objects.filter(app__in=made).exclude(token_digest=None).exists()
    people = User.objects.exclude(email__in=SIGN_INS)
    assert people.count() == 10
    assert not any(person.has_usable_password() for person in people)
    assert not any(business.products.exists() for person in people for business in person.businesses.all())


@pytest.mark.parametrize("sort", ["installs", "updated", "name"])
def test_order_bell_comes_first(begun: datetime, client: Client, sort: str) -> None:
    page = client.get("/marketplace/", {"sort": sort}, headers=HTML).content.decode()
    first, *others = page.split('class="app-card')[1:]
    assert "/marketplace/order-bell/" in first
    assert len(others) == 5


def test_figures_agree_with_the_rows(begun: datetime) -> None:
    """Also those of the bad days: an endpoint failed for a day, and was fixed."""
    counted = DailyDeliveryCount.objects.all()
    assert sum(day.successful for day in counted) == Delivery.objects.filter(status="SUCCEEDED").count()
    assert sum(day.failed for day in counted) == Delivery.objects.filter(status="EXHAUSTED").count() > 20
    assert counted.latest("date").failed == 0


def test_second_start_writes_nothing_and_pages_say_what_is_made(
    begun: datetime, settings: Any, tmp_path: Path
) -> None:
    before = Order.objects.count()
    begin(state_file=tmp_path / "state", url="http://localhost:9")
    assert Order.objects.count() == before
    assert "made up" in settings.FOOTER_NOTE


def test_orders_are_paid_in_every_way_and_one_was_partly_refunded(begun: datetime, client: Client) -> None:
    client.force_login(User.objects.get(email="merchant@example.com"))

    def shown(**of: Any) -> str:
        order = Order.objects.filter(business=merchants_shop(), **of).latest("id")
        return words_of(client.get(f"/merchant/orders/{order.pk}/", headers=HTML))

    assert "By the app Order Bell" in shown(payment__status="COMPLETED")
    assert "Payment expired" in shown(payment__status="EXPIRED")
    assert "Payment failed" in shown(payment__status="FAILED")
    assert "A part of it was missing" in shown(refunded__gt=0)
    assert "failed when asked" in shown(validation="NOT_VALIDATED")


@pytest.mark.parametrize(
    ("person", "path", "words"),
    [
        ("reviewer", "/admin/marketplace/submission/", ("Thank You Notes", "Tax Ledger", "Shelf Watch")),
        ("developer", "/portal/apps/stamp-card/review/", ("Answer it with 401",)),
        ("developer", "/portal/apps/stamp-card/release/", ("Complete", "3 of 3", "34 of 2,040")),
        ("developer", "/portal/apps/order-bell/members/", ("Kim Novak", "Vera Ruiz")),
        ("merchant", "/merchant/staff/", ("Pia Nilsen", "Aiko Mori")),
    ],
)
def test_page_of_the_demo_has_something_to_show(
    begun: datetime, client: Client, person: str, path: str, words: tuple[str, ...]
) -> None:
    client.force_login(User.objects.get(email=f"{person}@example.com"))
    page = words_of(client.get(path, headers=HTML))
    assert [each for each in words if each not in page] == []


def test_new_port_needs_no_answer_of_a_made_store(begun: datetime, tmp_path: Path) -> None:
    begin(state_file=tmp_path / "state", url="http://localhost:10")
    app = App.objects.get(slug="order-bell")
    active = app.installations.filter(uninstalled_at=None, is_test=False)
    assert not active.filter(needs_reconsent=True).exists()
    assert active.filter(agreed_version=app.approved_version).count() == active.count() == 6
    assert mail.outbox == []


def test_install_of_a_made_app_ends_at_a_page_that_says_so(begun: datetime, client: Client) -> None:
    version = App.objects.get(slug="stamp-card").approved_version
    assert version
    path = version.redirect_url.partition("//")[2].partition("/")[2]
    assert "has no server" in client.get(f"/{path}", headers=HTML).content.decode()


def test_without_history_the_demo_has_its_one_app(settings: Any, tmp_path: Path) -> None:
    settings.DEBUG, settings.DEMO_HISTORY = True, False
    begin(state_file=tmp_path / "state", url="http://localhost:9")
    assert App.objects.get().slug == "order-bell"
    assert settings.FOOTER_NOTE == ""
