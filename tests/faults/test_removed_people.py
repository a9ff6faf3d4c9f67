"""Two web processes: who is removed in one is out in the other within a second, with sessions that were open in both."""

import time
from collections.abc import Callable
from typing import Any

import pytest
import requests
from django.conf import settings

from accounts.enums import StoreRole
from accounts.models import Business, User
from accounts.services.staff import STAFF
from accounts.sign_in import tokens
from installations import services
from installations.models import Installation
from marketplace.models import App
from marketplace.services.members import MEMBERS
from tests import factories
from tests.faults.deliveries import wait_for_web
from tests.faults.processes import Processes
from tests.pages import signed_in
from tests.ports import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture
def webs(processes: Processes) -> list[str]:
    ports = [free_port(), free_port()]
    for port in ports:
        processes.web(port)
    for port in ports:
        wait_for_web(port)
    return [f"http://127.0.0.1:{port}" for port in ports]


def browser_of(person: User) -> requests.Session:
    browser = requests.Session()
    browser.cookies.set(
        settings.SESSION_COOKIE_NAME, signed_in(person).cookies[settings.SESSION_COOKIE_NAME].value
    )
    browser.headers["Accept"] = "text/html"
    return browser


def statuses(ask: Callable[[str], Any], webs: list[str]) -> set[int]:
    return {ask(web).status_code for web in webs for _ in range(5)}


def within_a_second(ask: Callable[[str], Any], webs: list[str], refused: set[int]) -> None:
    time.sleep(1)
    assert statuses(ask, webs) == refused


@pytest.mark.fault(44)
@pytest.mark.spec("Contract 11 Staff", "Who is removed is out within a second, sessions included")
def test_removed_staff_is_out_in_every_process(webs: list[str], mira: User) -> None:
    shop = mira.businesses.get()
    kim = factories.merchant("kim@example.com", name="Kim")
    row = factories.staff(shop, kim, StoreRole.MANAGER)
    product, browser = factories.product(shop), browser_of(kim)

    def page(web: str) -> Any:
        return browser.get(f"{web}/merchant/products/{product.pk}/", allow_redirects=False, timeout=20)

    assert statuses(page, webs) == {200}
    STAFF.change_role(shop, by=mira, member_id=row.pk, role="ORDERS")
    within_a_second(page, webs, {403})
    STAFF.change_role(shop, by=mira, member_id=row.pk, role="MANAGER")
    within_a_second(page, webs, {200})
    STAFF.remove(shop, by=mira, member_id=row.pk)
    within_a_second(page, webs, {404})


@pytest.mark.fault(44)
@pytest.mark.spec(
    "Contract 11 Members",
    "Who is removed is out within a second: sessions, reach of tokens and test installs",
)
def test_removed_member_is_out_in_every_process(webs: list[str], dana: User, sandbox: Business) -> None:
    app = factories.app(dana, name="Loyalty Stars", slug="stars")
    sam = factories.developer("sam@example.com", name="Sam")
    row = factories.member(app, sam)
    token = services.test_install(app=app, developer=sam).access_token
    browser, bearer = browser_of(sam), {"Authorization": f"Bearer {tokens.issue(sam).access}"}

    def page(web: str) -> Any:
        return browser.get(f"{web}/portal/apps/stars/", allow_redirects=False, timeout=20)

    def api(web: str) -> Any:
        return requests.get(f"{web}/developer/apps/{app.pk}", headers=bearer, timeout=20)

    def call(web: str) -> Any:
        return requests.get(
            f"{web}/app-api/products", headers={"Authorization": f"Bearer {token}"}, timeout=20
        )

    for ask in (page, api, call):
        assert statuses(ask, webs) == {200}
    MEMBERS.remove(app, by=dana, member_id=row.pk)
    within_a_second(page, webs, {404})
    assert (statuses(api, webs), statuses(call, webs)) == ({404}, {401})
    assert not Installation.objects.active().filter(app=app).exists()
    assert App.objects.get().developer == dana
