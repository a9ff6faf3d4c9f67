"""People of connected stores, whom their shops send here with tickets."""

from typing import Any

from django.test import Client

from accounts.enums import StoreRole
from accounts.models import Business, User
from accounts.sign_in import tickets
from accounts.sign_in.tickets import Guest
from tests.pages import HTML


def person_in(business: Business, role: StoreRole) -> User:
    """One with this role."""
    guest = Guest(f"{role.lower()}-1", role.label, role, f"{role.lower()}@{business.slug}.example")
    tickets.issue(store=business.connected, guest=guest)
    return User.objects.get(shop_person__store=business.connected, shop_person__external_id=guest.id)


def ticket(shop: Client, store: str = "main", *, status: int = 201, **body: Any) -> Any:
    """What the shop gets. `body` without a person is for Kim, the owner."""
    body = {"person": {"id": "kim", "name": "Kim Lee", "email": "kim@shop.example"}, "role": "OWNER"} | body
    answer = shop.post(f"/store-api/stores/{store}/tickets", body, "application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def path_of(made: Any) -> str:
    url: str = made["url"]
    assert url.startswith("http://testserver/")
    return url.removeprefix("http://testserver")


def signed_in_by(shop: Client, store: str = "main", **body: Any) -> Client:
    """A browser in which the ticket was opened."""
    browser = Client(headers=HTML, enforce_csrf_checks=True)
    assert browser.get(path_of(ticket(shop, store, **body))).status_code == 303
    return browser
