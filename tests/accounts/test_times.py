"""The zone of the times on a person's own pages, on those about a store, and in the admin."""

from datetime import UTC, datetime

import pytest
import time_machine
from django.test import Client

from accounts.models import Business, User
from accounts.services import create_reviewer
from marketplace.models import App
from tests import factories

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 27, 12, 0, 30, tzinfo=UTC)


@pytest.fixture
def in_kolkata(dana: User) -> Client:
    browser = Client()
    browser.cookies["zone"] = "Asia/Kolkata"
    with time_machine.travel(NOON, tick=False):
        browser.post("/accounts/login/", {"email": dana.email, "password": factories.PASSWORD})
    return browser


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("security-log/", "17:30:30</time>"),
        ("sessions/", 'Signed in <time datetime="2026-11-27T12:00:30.000Z">27 Nov 2026, 17:30 IST'),
    ],
)
def test_times_of_an_account_are_the_persons_own_and_utc_is_one_press_away(
    in_kolkata: Client, path: str, shown: str
) -> None:
    with time_machine.travel(NOON, tick=False):
        page = in_kolkata.get(f"/accounts/{path}").content.decode()
        assert shown in page
        assert "Show UTC" in page
        in_kolkata.post("/accounts/times/", {"times": "UTC", "next": f"/accounts/{path}"})
        page = in_kolkata.get(f"/accounts/{path}").content.decode()
        assert shown not in page
        assert "12:00" in page
        assert "Show Asia/Kolkata" in page


def test_times_about_a_store_are_in_the_stores_zone(mira: User, shop: Business) -> None:
    browser = Client()
    browser.force_login(mira)
    browser.cookies["zone"] = "Asia/Kolkata"
    Business.objects.filter(pk=shop.pk).update(timezone="America/New_York")
    factories.order(shop, created_at=NOON)
    with time_machine.travel(NOON, tick=False):
        page = browser.get("/merchant/orders/").content.decode()
    assert "07:00" in page
    assert "17:30" not in page


def test_times_in_the_admin_are_utc(app: App) -> None:
    rita = create_reviewer(email="rita@example.com", name="Rita")
    browser = Client()
    browser.force_login(rita)
    browser.cookies["zone"] = "Asia/Kolkata"
    App.objects.filter(pk=app.pk).update(created_at=NOON, updated_at=NOON)
    page = browser.get(f"/admin/marketplace/app/{app.pk}/change/").content.decode()
    assert "12:00" in page
    assert "17:30" not in page
