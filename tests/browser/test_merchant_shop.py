"""The merchant's pages about the shop, as a merchant works with them: by keyboard, without scripts."""

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.models import Business, User
from stores.models import Order, Product, Review, SitePage
from stores.services.catalogue.products import archive_product
from stores.services.checkout import place_order
from stores.services.pages import create_page
from stores.services.reviews import create_review
from tests import factories

from .axe import violations
from .chromium import overflow
from .conftest import NewPage, SignIn

LONG = "A name that goes on for as long as two hundred characters do allow it, since somebody will " * 2
ZONE = "Australia/Brisbane"
PATHS = (
    "/merchant/",
    "/merchant/orders/",
    "/merchant/orders/?q=77",
    "/merchant/orders/?status=LOST",
    "/merchant/orders/{order}/",
    "/merchant/orders/{paid}/",
    "/merchant/orders/{order}/cancel/",
    "/merchant/products/",
    "/merchant/products/add/",
    "/merchant/products/{product}/",
    "/merchant/products/{archived}/",
    "/merchant/products/{product}/delete/",
    "/merchant/reviews/",
    "/merchant/reviews/?product={product}",
    "/merchant/reviews/{review}/delete/",
    "/merchant/pages/",
    "/merchant/pages/add/",
    "/merchant/pages/{page}/delete/",
    "/merchant/store/",
)


@pytest.fixture
def merchant(new_page: NewPage, sign_in: SignIn, mira: User) -> NewPage:
    """Makes a page that Mira sees."""

    def make(path: str, **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, mira)
        page.goto(path)
        return page

    return make


@pytest.fixture
def bread(shop: Business) -> Product:
    return factories.product(shop, name="Bread", slug="bread", price=500, stock=8)


@pytest.fixture
def order(shop: Business, bread: Product) -> Order:
    return place_order(business=shop, request=factories.order_request((bread, 2), customer_name="Ann"))


def press(page: Page, target: Locator, key: str = "Enter") -> None:
    """Reach something by Tab alone, and press it."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            page.keyboard.press(key)
            return
    raise AssertionError(f"{target} is not reached by Tab.")


def test_order_is_handled_in_3_presses_from_the_list(merchant: NewPage, order: Order) -> None:
    page = merchant("/merchant/orders/")
    for role, name in (("link", order.number), ("button", "Confirm order"), ("button", "Mark as delivered")):
        page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]
    expect(page.get_by_text(f"Order {order.number} is delivered.")).to_be_visible()
    order.refresh_from_db()
    assert order.status == "DELIVERED"


def test_focus_stays_with_the_next_act_after_a_press_by_keyboard(merchant: NewPage, order: Order) -> None:
    page = merchant(f"/merchant/orders/{order.pk}/")
    page.get_by_role("button", name="Confirm order").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Mark as delivered")).to_be_focused()
    press(page, page.locator(".more summary"))
    press(page, page.get_by_role("link", name="Cancel order"))
    press(page, page.get_by_role("button", name="Cancel order"))
    expect(page.get_by_role("status").filter(has_text=f"Order {order.number} is cancelled.")).to_be_focused()


@pytest.mark.long
@pytest.mark.journey
def test_order_is_worked_off_by_keyboard_without_scripts(
    merchant: NewPage, shop: Business, bread: Product, order: Order
) -> None:
    page = merchant("/merchant/", java_script_enabled=False)
    press(page, page.get_by_role("link", name="View orders (1 order to confirm)", exact=True))
    press(page, page.get_by_role("link", name=order.number))
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Order {order.number}")
    press(page, page.get_by_role("button", name="Confirm order"))
    expect(page.get_by_text(f"Order {order.number} is confirmed.")).to_be_visible()
    press(page, page.get_by_role("button", name="Mark as ready"), "Space")
    expect(page.get_by_text(f"Order {order.number} is ready.")).to_be_visible()
    expect(page.locator("[aria-current=step]")).to_contain_text("Ready")
    press(page, page.locator(".more summary"))
    press(page, page.get_by_role("link", name="Cancel order"))
    expect(page.get_by_text("go back in stock")).to_be_visible()
    press(page, page.get_by_role("button", name="Cancel order"))
    expect(page.get_by_text(f"Order {order.number} is cancelled.")).to_be_visible()
    bread.refresh_from_db()
    assert bread.stock == 8


def test_shelf_is_kept_by_keyboard_without_scripts(merchant: NewPage, shop: Business, bread: Product) -> None:
    page = merchant("/merchant/products/", java_script_enabled=False)
    press(page, page.get_by_role("textbox", name="Stock of Bread"))
    page.keyboard.press("Control+A")
    page.keyboard.type("none")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Stock of Bread")).to_have_value("none")
    expect(page.get_by_role("alert").get_by_role("link")).to_have_text("Enter a whole number, such as 12.")
    press(page, page.get_by_role("link", name="Enter a whole number"))
    expect(page.get_by_role("textbox", name="Stock of Bread")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type("20")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The stock of Bread is 20.")).to_be_visible()
    press(page, page.get_by_role("link", name="Add product"))
    page.get_by_label("Name").fill("Rye")
    page.get_by_label("Price in USD").fill("6,90")
    press(page, page.get_by_role("button", name="Add product"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Rye")
    expect(page.get_by_label("Price in USD")).to_have_value("6.90")
    press(page, page.get_by_role("button", name="Archive product"))
    expect(page.get_by_text("Rye archived.")).to_be_visible()
    press(page, page.get_by_role("button", name="Restore product"))
    press(page, page.get_by_role("link", name="Delete product"))
    press(page, page.get_by_role("button", name="Delete product"))
    expect(page.get_by_text("Rye deleted.")).to_be_visible()
    assert list(Product.objects.values_list("name", "stock")) == [("Bread", 20)]


def test_products_are_changed_in_their_rows_and_a_wrong_value_stays(
    merchant: NewPage, shop: Business, bread: Product
) -> None:
    page = merchant("/merchant/products/")
    price, stock = (page.get_by_role("textbox", name=f"{name} of Bread") for name in ("Price", "Stock"))
    price.fill("6,90")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    expect(price).to_have_value("6.90")
    page.get_by_role("switch", name="Bread is available").uncheck()
    expect(page.locator("[data-status]")).to_have_text("Unavailable")
    stock.fill("a dozen")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert")).to_have_text("Enter a whole number, such as 12.")
    expect(stock).to_have_value("a dozen")
    assert violations(page) == []
    stock.fill("12")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    bread.refresh_from_db()
    assert (bread.price, bread.stock, bread.is_available) == (690, 12, False)
    assert page.url.endswith("/merchant/products/")


def test_what_is_changed_after_the_session_ended_is_asked_for_again(
    merchant: NewPage, shop: Business, bread: Product
) -> None:
    page = merchant("/merchant/products/")
    page.context.clear_cookies()
    page.get_by_role("textbox", name="Stock of Bread").fill("20")
    page.keyboard.press("Tab")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_review_and_page_by_keyboard_without_scripts(
    merchant: NewPage, shop: Business, bread: Product
) -> None:
    create_review(product=bread, rating=1, author_name="Kim", comment="Burnt.")
    page = merchant("/merchant/reviews/", java_script_enabled=False)
    press(page, page.get_by_role("link", name="Remove the review of Bread by Kim"))
    press(page, page.get_by_role("button", name="Remove review"))
    expect(page.get_by_text("No reviews yet")).to_be_visible()
    press(page, page.get_by_role("link", name="Pages"))
    press(page, page.get_by_role("link", name="Add page"))
    page.get_by_label("Title").fill("Opening hours")
    press(page, page.get_by_role("button", name="Add page"))
    press(page, page.get_by_role("link", name="Edit Opening hours"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Opening hours")
    page.goto("/merchant/pages/")
    press(page, page.get_by_role("link", name="Delete Opening hours"))
    press(page, page.get_by_role("button", name="Delete page"))
    expect(page.get_by_text("No pages yet")).to_be_visible()
    assert not SitePage.objects.exists()
    assert not Review.objects.exists()


# --- Long texts -------------------------------------------------------------------------------------


@pytest.fixture
def paths(shop: Business, bread: Product, order: Order) -> dict[str, object]:
    """A shop with long words beside short ones."""
    long = factories.product(shop, name=LONG[:200], category="c" * 80, stock=1, low_stock_threshold=5)
    archived = factories.product(shop, name="Old", stock=0)
    archive_product(product=archived)
    Order.objects.filter(pk=order.pk).update(
        validation="NOT_VALIDATED", delivery_method="DELIVERY", address="1 Long Street\n" * 3,
        note="n" * 200, customer_name="c" * 120,
    )  # fmt: skip
    paid = factories.order(shop, payment_method="pay:wallet", number="99999999999999999999")
    factories.payment(paid, status="COMPLETED", invoice_id="INV-" + "7" * 80, reference="R" * 120)
    review = create_review(product=long, rating=1, author_name="a" * 120, comment="No words. " * 60)
    page = create_page(business=shop, title=LONG[:200], slug="s" * 120)
    create_page(business=shop, title="Holidays", is_published=False)
    return {
        "order": order.pk,
        "paid": paid.pk,
        "product": long.pk,
        "archived": archived.pk,
        "review": review.pk,
        "page": page.pk,
    }


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_pages_with_long_texts_fit_a_window_of_320_pixels(
    merchant: NewPage, paths: dict[str, object], path: str
) -> None:
    assert overflow(merchant(path.format(**paths), viewport={"width": 320, "height": 640})) == 0


def test_time_zone_of_a_new_store_is_the_browsers_and_stays_as_chosen(new_page: NewPage) -> None:
    page = new_page(timezone_id=ZONE)
    page.goto("/accounts/register/?role=MERCHANT")
    zone = page.get_by_label("Time zone")
    expect(zone).to_have_value(ZONE)
    zone.select_option("Europe/Lisbon")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("alert").or_(page.locator(".error-summary"))).to_be_visible()
    expect(zone).to_have_value("Europe/Lisbon")
