"""A merchant erases one customer, and a worker looks for copies."""

from typing import Any

from django.test import Client

from stores.models import CustomerErasure
from stores.tasks import erase_copies_of_customer
from tests.forms import form_on, send

SEARCH = "/merchant/customers/"


def page_of(browser: Client, **contact: str) -> str:
    """The address of a person's page, of which the pages below it are made: `erase/` and `export.json`."""
    answer = browser.get(SEARCH, contact)
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def erase_page_of(browser: Client, **contact: str) -> str:
    page, _, query = page_of(browser, **contact).partition("?")
    return f"{page}erase/{'?' if query else ''}{query}"


def export_page_of(browser: Client, **contact: str) -> str:
    return erase_page_of(browser, **contact).replace("erase/", "export.json")


def press_erase(browser: Client, email: str) -> Any:
    """From the search to the button that confirms it."""
    page = browser.post(SEARCH, {"q": email}, follow=True)
    address = page.request["PATH_INFO"]
    erase = f"{address}erase/"
    assert f'href="{erase}"' in page.content.decode()
    return send(browser, form_on(browser.get(erase), erase))


def look_for_copies() -> None:
    """What a worker does as soon as the erasure is committed."""
    erase_copies_of_customer(str(CustomerErasure.objects.latest("at").pk))


def erase(browser: Client, email: str) -> None:
    assert press_erase(browser, email).status_code == 302
    look_for_copies()
