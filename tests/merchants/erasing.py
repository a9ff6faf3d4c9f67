"""A merchant erases one customer, and a worker looks for copies."""

from typing import Any

from django.test import Client

from stores.models import CustomerErasure
from stores.tasks import erase_copies_of_customer
from tests.by_hand import Page
from tests.forms import form_on, send

SEARCH = "/merchant/customers/"


def press_erase(browser: Client, email: str) -> Any:
    """From the search to the button that confirms it."""
    address = f"{SEARCH}?email={email}"
    page = browser.get(address)
    (button,) = [
        form
        for form in Page(address, page.status_code, page.content.decode()).forms
        if form.action == f"{SEARCH}erase/"
    ]
    assert button.method == "get"
    return send(browser, form_on(browser.get(button.action, dict(button.fields)), button.action))


def look_for_copies() -> None:
    """What a worker does as soon as the erasure is committed."""
    erase_copies_of_customer(str(CustomerErasure.objects.latest("at").pk))


def erase(browser: Client, email: str) -> None:
    assert press_erase(browser, email).status_code == 302
    look_for_copies()
