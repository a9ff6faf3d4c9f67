"""Text of several lines is shown as they typed it: each line for itself, and in the direction of its own letters
(contract, section 15). Measured by the places of the letters.
"""

from typing import Any, Final

import pytest
from playwright.sync_api import Page

from accounts.models import Business, User
from common.secrets import digest
from stores.services.pages import clean_html, create_page, written
from stores.services.reviews import create_review
from tests import factories

from .conftest import NewPage, SignIn

KEY: Final = "k" * 43  # opens the order's page in the store
LINES: Final = "شارع النيل\n1 Long Lane\n12345 Town"
PAIRS: Final = (("1 Long Lane", "1", "Long"), ("12345 Town", "12345", "Town"))
PLACES: Final = """([line, first, then]) => {
  const main = document.querySelector("main");
  const found = [];
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    const begin = node.data.indexOf(line);
    if (begin < 0 || !node.parentElement.checkVisibility() || node.parentElement.closest("textarea")) continue;
    const place = (word) => {
      const range = document.createRange();
      range.setStart(node, begin + line.indexOf(word));
      range.setEnd(node, begin + line.indexOf(word) + word.length);
      return range.getBoundingClientRect();
    };
    found.push({ isInOrder: place(first).right <= place(then).left + 1, top: place(then).top });
  }
  return found;
}"""


def lines_of(page: Page) -> list[bool]:
    """Whether each of the Latin lines is in order, and the later one below the other."""
    first, second = (page.evaluate(PLACES, list(pair)) for pair in PAIRS)
    assert first
    assert len(first) == len(second)
    return [
        one["isInOrder"] and other["isInOrder"] and other["top"] > one["top"] + 5
        for one, other in zip(first, second, strict=True)
    ]


@pytest.fixture
def shown(new_page: NewPage, sign_in: SignIn, mira: User, shop: Business) -> Any:
    """The paths of pages that show the lines, and a browser in which the merchant is signed in."""
    product = factories.product(shop, name="Bread", slug="bread", description=LINES)
    order = factories.order(
        shop,
        delivery_method="DELIVERY",
        customer_name="محمد",
        address=LINES,
        note=LINES,
        page_key_digest=digest(KEY),
    )
    create_review(product=product, author_name="Kim", rating=5, comment=LINES)
    text = written(LINES + "\n\n- " + LINES.replace("\n", "\n- "))
    create_page(business=shop, title="About", slug="about", content=clean_html(text["content"]))
    page = new_page()
    sign_in(page.context, mira)
    return page, {
        "slip": f"/merchant/orders/{order.pk}/packing-slip/",
        "order": f"/merchant/orders/{order.pk}/",
        "reviews": "/merchant/reviews/",
        "product": f"/store/{shop.slug}/products/bread/",
        "page": f"/store/{shop.slug}/pages/about/",
        "order in the store": f"/store/{shop.slug}/orders/{KEY}/",
    }


@pytest.mark.spec("Contract 15 Doors", "each line has its own direction")
@pytest.mark.parametrize(
    ("where", "times"),
    [("slip", 2), ("order", 2), ("reviews", 1), ("product", 2), ("page", 2), ("order in the store", 2)],
)
def test_each_line_has_its_own_direction(shown: Any, where: str, times: int) -> None:
    page, paths = shown
    page.goto(paths[where])
    assert lines_of(page) == [True] * times
