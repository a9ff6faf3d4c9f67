"""How many requests a page takes that nothing is cached of: at most 12, and one for each picture of a product or app in sight."""

from collections import Counter

import pytest
from playwright.sync_api import Page, Request

from accounts.models import Business, User
from extensions.enums import ExtensionType
from marketplace.models import App
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app

from .conftest import NewPage, SignIn

MOST = 12
PICTURES = ("/marketplace/pictures/", "/media/")


@pytest.fixture
def app(dana: User) -> App:
    app = listed_app(dana, ["read_products"], name="Loyalty Stars", slug="stars")
    define(app, ExtensionType.ADMIN_PAGE, "points", title="Points")
    return app


def requests_of(page: Page, path: str) -> Counter[str]:
    """By kind, as Chromium counts them; without pictures of products and apps."""
    found: Counter[str] = Counter()

    def note(request: Request) -> None:
        if request.frame == page.main_frame and not any(part in request.url for part in PICTURES):
            found[request.resource_type] += 1

    page.on("request", note)
    answer = page.goto(path)
    assert answer
    assert answer.status == 200, path
    page.wait_for_load_state("networkidle")
    page.remove_listener("request", note)
    return found


@pytest.mark.parametrize(
    ("person", "path"),
    [
        ("", "/"), ("", "/marketplace/"), ("", "/marketplace/stars/"), ("", "/docs/"), ("", "/docs/reference/orders/"),
        ("dana", "/portal/"), ("dana", "/portal/apps/stars/"), ("dana", "/portal/apps/stars/logs/"),
        ("dana", "/portal/apps/stars/deliveries/"), ("dana", "/portal/apps/stars/manifest/"), ("dana", "/portal/apps/stars/analytics/"),
        ("dana", "/portal/apps/stars/test/"),
        ("mira", "/merchant/"), ("mira", "/merchant/orders/"), ("mira", "/merchant/products/"), ("mira", "/merchant/apps/"),
        ("mira", "/merchant/store/"),
        ("", "/store/{shop}/"), ("", "/store/{shop}/products/rye/"), ("", "/store/{shop}/cart/"),
    ],
)  # fmt: skip
def test_page_takes_at_most_twelve_requests(
    new_page: NewPage,
    sign_in: SignIn,
    shop: Business,
    mira: User,
    dana: User,
    app: App,
    person: str,
    path: str,
) -> None:
    installed(app, shop)
    for name in ("Rye", "Sourdough"):
        factories.product(shop, name=name, slug=name.lower())
    page = new_page()
    if person:
        sign_in(page.context, {"dana": dana, "mira": mira}[person])
    found = requests_of(page, path.format(shop=shop.slug))
    assert found.total() <= MOST, found
    assert found["script"] <= 3, found
