"""Where scripts make elements of text. Text that people typed goes through `textContent`, or comes as HTML that a template has escaped.

A new place needs a row here, which says what it draws, and a test that gives it markup.
"""

import re
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.models import Business, User
from tests import factories
from tests.forms import HTML
from tests.pages import signed_in

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDERS: Final = ("static", "sdk/js", "sdk/node", "sdk/python", "examples", "templates")
DRAWS: Final = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment|DOMParser|setHTML|parseHTML"
    r"|\beval\(|new Function\b|javascript:"
)
PLACES: Final = {
    # Parts of pages that the server rendered, escaped by their templates.
    "static/js/search.js": ("innerHTML", "innerHTML"),  # test_found_names_are_text; a row without values
    "static/js/row_form.js": ("innerHTML",),  # the pill of a product's status
    "static/js/live_part.js": ("innerHTML",),  # test_names_in_a_list_that_is_fetched_are_text
    "static/js/checkout.js": ("innerHTML", "innerHTML", "innerHTML"),  # test_reason_of_a_discount_is_text
    "static/js/live.js": ("DOMParser",),  # reads `textContent` alone
    "static/js/settings_form.js": ("DOMParser",),  # tests/extensions/test_hostile_schemas.py
    # Text of a page, as the store shows it: cleaned by the server. tests/stores/test_pages.py, tests/merchants/test_site_pages.py
    "static/js/canvas.js": (
        "srcdoc",
        "innerHTML",
        "innerHTML",
    ),  # it looks where it is, and the last one only compares
    # A page by its own template. tests/merchants/test_site_pages.py gives its title markup.
    "templates/merchants/pages/editor.html": ("srcdoc", "srcdoc"),
    # tests/browser/test_typed_markup.py gives it every construct.
    "static/vendor/tiny-markdown-editor-0.2.34/tiny-mde.tiny.js": ("innerHTML", "innerHTML", "innerHTML"),
    # The sample app's own server, which escapes.
    "examples/sample_app/static/app.js": ("createContextualFragment",),
    "examples/sample_app/static/overview.js": ("innerHTML",),
}
MARKUP: Final = '<img src="x" onerror="planted()">'


def test_scripts_draw_html_where_the_list_says() -> None:
    found = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".js", ".mjs", ".html", ".ts") and "node_modules" not in path.parts:
                text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE)
                if places := tuple(DRAWS.findall(text)):
                    found[path.relative_to(ROOT).as_posix()] = places
    assert found == PLACES


def shown_as_text(page: Any) -> None:
    assert page.status_code == 200
    assert MARKUP not in page.text
    assert escape(MARKUP) in page.text or escape(MARKUP, quote=False) in page.text


@pytest.mark.django_db
def test_found_names_are_text(mira: User, shop: Business) -> None:
    factories.product(shop, name=MARKUP)
    shown_as_text(signed_in(mira).get("/search/", {"q": "onerror", "part": ""}))


@pytest.mark.django_db
def test_names_in_a_list_that_is_fetched_are_text(dana: User) -> None:
    factories.app(dana, name=MARKUP, slug="marked")
    shown_as_text(
        signed_in(dana).get(reverse("portal:app_list"), {"part": "rows", "seen": "0"}, headers=HTML)
    )


@pytest.mark.django_db
def test_reason_of_a_discount_is_text(shop: Business) -> None:
    """What an app says in the sums of the checkout, which the page asks for while somebody chooses."""
    price = SimpleNamespace(discount=100, discount_reason=MARKUP, delivery_fee=0, amount=900)
    context = {"shop": shop, "price": price, "subtotal": 1000, "form": {}}
    sums = render_to_string("storefront/checkout_sums.html", context)
    assert MARKUP not in sums
    assert escape(MARKUP) in sums
