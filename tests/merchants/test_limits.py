"""How many forms one person may send to the dashboard (contract, section 15, "Lengths")."""

import pytest
from django.test import Client

from accounts.models import Business, User
from common.web import limits
from stores.models import Product
from tests import factories
from tests.clients import api_of
from tests.forms import HTML, form_at, send
from tests.pages import signed_in, text_of

ADD = "/merchant/products/add/"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.spec("Contract 15 Doors", "600 writing requests a minute to the merchant's dashboard"),
]


@pytest.fixture
def browser(mira: User, shop: Business) -> Client:
    return signed_in(mira)


def test_form_beyond_the_limit_is_kept_for_its_page(
    browser: Client, shop: Business, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    assert limits.PERSON_REQUESTS == 600
    monkeypatch.setattr(limits, "PERSON_REQUESTS", 1)
    assert send(browser, form_at(browser, ADD), name="Rye Bread", price="6.90").status_code == 302
    refused = send(browser, form_at(browser, ADD), name="Bun", price="1")
    assert (refused.status_code, refused.headers["Content-Type"]) == (429, "text/html; charset=utf-8")
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert f"Try again in {refused['Retry-After']} seconds. Then open the page again" in text_of(refused)
    assert list(Product.objects.values_list("name", flat=True)) == ["Rye Bread"]
    shown = browser.get(ADD, headers=HTML)
    assert shown.status_code == 200
    assert 'value="Bun"' in shown.text
    assert "this one isn’t saved yet" in text_of(shown)


def test_portal_api_and_dashboard_count_together_and_for_one_person(
    dana: User,
    browser: Client,
    shop: Business,
    monkeypatch: pytest.MonkeyPatch,
    stopped_clock: None,
) -> None:
    monkeypatch.setattr(limits, "PERSON_REQUESTS", 2)
    api = api_of(dana)
    assert api("get", "/developer/apps").status_code == 200
    sandbox = signed_in(dana)
    assert send(sandbox, form_at(sandbox, ADD), name="Rye", price="1").status_code == 302
    assert api("get", "/developer/apps").status_code == 429
    assert send(sandbox, form_at(sandbox, ADD), name="Bun", price="1").status_code == 429
    assert send(browser, form_at(browser, ADD), name="Bun", price="1").status_code == 302


def test_what_changes_many_rows_counts_once(
    browser: Client, shop: Business, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(limits, "PERSON_REQUESTS", 1)
    orders = [factories.order(shop) for _ in range(3)]
    sent = {"order": [str(each.pk) for each in orders], "status": "CONFIRMED"}
    assert browser.post("/merchant/orders/move/", sent, headers=HTML).status_code == 302
    for each in orders:
        each.refresh_from_db()
    assert {each.status for each in orders} == {"CONFIRMED"}
