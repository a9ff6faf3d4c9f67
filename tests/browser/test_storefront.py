"""A shop as a shopper uses it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from time import sleep
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from accounts.models import Business, User
from stores.enums import BuiltInPayment
from stores.hookpoints import (
    Discount,
    HookRequest,
    OrderVerdict,
    PaymentDetails,
    PaymentMethod,
    ShippingRate,
    registered,
)
from stores.models import Order, Product
from stores.services.pages import create_page
from stores.services.payments import settle_payment
from tests import factories

from .axe import violations
from .conftest import NewPage, SignIn

WALLET = PaymentMethod("pay:wallet", "Harbour Wallet", "pay", "Pay with your phone.")


@pytest.fixture
def store(shop: Business) -> str:
    """The shop's address, with goods on the shelf."""
    for name, stock in (("Sourdough", 10), ("Rye", None), ("Bun", 0)):
        factories.product(shop, name=name, slug=name.lower(), price=650, stock=stock, category="Bread")
    factories.product(
        shop,
        name="A cake whose name goes on for as long as eighty characters do allow it to",
        category="Cakes",
    )
    create_page(business=shop, title="About us", slug="about", content="<h2>Hours</h2><p>Seven to six.</p>")
    return f"/store/{shop.slug}/"


@pytest.fixture
def wallet() -> Iterator[dict[str, Any]]:
    """An app's method; `answer` is what making the payment gives."""
    answers: dict[str, Any] = {"answer": None}
    with (
        registered("checkout.payment_methods", lambda request: [WALLET]),
        registered("checkout.create_payment", lambda request: answers["answer"]),
    ):
        yield answers


def test_tab_is_one_visit_of_the_store(new_page: NewPage, store: str, shop: Business) -> None:
    """However many pages it shows. The browser reports it, so programs that run no scripts are none."""
    context = new_page().context
    for _ in range(2):
        page = context.new_page()
        with page.expect_response("**/visit/") as answered:
            page.goto(store)
        assert answered.value.status == 204
        page.goto(f"{store}products/rye/")
        page.goto(f"{store}cart/", wait_until="networkidle")
    assert shop.visits.get().visits == 2


def to_checkout(page: Page, store: str) -> None:
    page.goto(store)
    page.get_by_role("link", name="Sourdough").click()
    page.get_by_label("Quantity").fill("2")
    page.get_by_role("button", name="Add to cart").click()
    page.get_by_role("link", name="Cart", exact=True).click()
    page.get_by_role("link", name="Checkout").click()
    page.get_by_label("Name", exact=True).fill("Kim")
    page.get_by_label("E-mail").fill("kim@example.com")


@pytest.mark.spec(
    "Contract 7 Pages", "Shoppers browse, fill a cart, check out and see their order, without scripts"
)
@pytest.mark.parametrize("scripted", [True, False])
def test_shopper_orders_for_delivery(new_page: NewPage, store: str, scripted: bool) -> None:
    page = new_page(java_script_enabled=scripted)
    to_checkout(page, store)
    expect(page.get_by_label("Address")).to_be_hidden()
    page.get_by_label("Delivery", exact=True).check()
    page.get_by_label("Address").fill("1 Quay Street")
    page.get_by_label("Town").fill("Portside")
    expect(page.get_by_text("$18.00")).to_be_visible()
    page.get_by_role("button", name="Place order").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    expect(page.get_by_text("$18.00", exact=True)).to_be_visible()
    order = Order.objects.get()
    assert order.address == "1 Quay Street\nPortside"
    page.reload()
    assert Order.objects.count() == 1
    page.goto(store)
    page.get_by_role("link", name=f"Your order {order.number}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")


def test_shopper_buys_in_4_presses(page: Page, store: str, wallet: dict[str, Any]) -> None:
    """With delivery and the method of an app, which is chosen because it is the only one, and is on the page with all others."""
    page.goto(store)
    presses = 0

    def press(role: str, name: str) -> None:
        nonlocal presses
        presses += 1
        page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]

    press("link", "Sourdough")
    press("button", "Buy now")
    page.get_by_label("Name", exact=True).fill("Kim")
    page.get_by_label("E-mail").fill("kim@example.com")
    press("radio", "Delivery")
    page.get_by_label("Address").fill("1 Quay Street")
    page.get_by_label("Town").fill("Portside")
    for name, is_chosen in (("Cash", False), ("Card", False), ("Harbour Wallet", True)):
        expect(page.get_by_role("radio", name=name)).to_be_checked(checked=is_chosen)
        expect(page.locator(".methods").get_by_text(name, exact=True)).to_be_visible()
    press("button", "Place order")
    page.wait_for_url("**/orders/**")
    assert presses == 4
    order = Order.objects.get()
    assert (order.delivery_method, order.payment_method) == ("DELIVERY", WALLET.id)


def test_chosen_card_shows_its_focus_outside_of_its_border(page: Page, store: str) -> None:
    to_checkout(page, store)
    page.get_by_label("Phone").focus()
    page.keyboard.press("Tab")
    chosen = page.get_by_label("Pickup", exact=True)
    expect(chosen).to_be_focused()
    expect(chosen).to_be_checked()
    style = chosen.evaluate(
        "each => (({ outlineStyle, outlineOffset }) => [outlineStyle, outlineOffset])(getComputedStyle(each.closest('.choice')))"
    )
    assert style == ["solid", "2px"]


@pytest.mark.parametrize(("rate", "goes_on"), [(500, True), (990, False)])
def test_placing_waits_for_the_total_and_shows_one_that_differs(
    page: Page, store: str, rate: int, goes_on: bool
) -> None:
    """The page shows the store's own fee of $5.00 until the app has answered."""
    to_checkout(page, store)
    with registered("checkout.shipping_rates", lambda question: sleep(1) or ShippingRate(rate)):
        page.get_by_label("Delivery", exact=True).check()
        page.get_by_label("Address").fill("1 Quay Street")
        page.get_by_label("Town").fill("Portside")
        page.get_by_role("button", name="Place order").click()
        expect(page.get_by_role("button", name="Working out the total…")).to_be_visible()
        if goes_on:
            expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
        else:
            expect(
                page.get_by_text("The total is now $22.90. Place the order if that is right.")
            ).to_be_visible()
    assert Order.objects.count() == goes_on


# Playwright looks at nothing while a page waits for the next one, so the page notes itself what it says.
NOTING = """
new MutationObserver(() => sessionStorage.setItem("said",
  (sessionStorage.getItem("said") ?? "") + document.querySelector("form.checkout .summary").innerText)
).observe(document.querySelector("form.checkout .summary"), { subtree: true, childList: true, characterData: true })
"""


def test_placing_says_so_and_after_3_s_what_it_waits_for(page: Page, store: str) -> None:
    to_checkout(page, store)
    expect(page.locator("form[data-sums=known]")).to_be_attached()
    page.evaluate(NOTING)
    with registered("order.validate", lambda question: sleep(4.5) or OrderVerdict(valid=True)):
        page.get_by_role("button", name="Place order").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    said = page.evaluate("sessionStorage.getItem('said')")
    assert "Placing your order…" in said
    assert "Waiting for the store to check your order…" in said


@pytest.mark.long
@pytest.mark.journey
def test_shopper_orders_by_keyboard(page: Page, store: str) -> None:
    def reach(name: str) -> None:
        """Tab until the focus is on what bears this name."""
        for _ in range(60):
            page.keyboard.press("Tab")
            found = page.evaluate(
                "document.activeElement.labels?.[0]?.textContent.trim() || document.activeElement.textContent.trim()"
            )
            if found.startswith(name):
                return
        raise AssertionError(f"{name} can't be reached")

    page.goto(store)
    reach("Sourdough")
    page.keyboard.press("Enter")
    page.wait_for_url("**/products/sourdough/")
    reach("Add to cart")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 × Sourdough added.")).to_be_visible()
    reach("Cart")
    page.keyboard.press("Enter")
    page.wait_for_url("**/cart/")
    reach("Checkout")
    page.keyboard.press("Enter")
    page.wait_for_url("**/checkout/")
    reach("Name")
    page.keyboard.type("Kim")
    reach("Phone")
    page.keyboard.type("+1 555 0100")
    reach("Place order")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    assert Order.objects.get().customer_phone == "+1 555 0100"


def test_slow_press_that_changes_the_sums_places_the_order(page: Page, store: str) -> None:
    """It takes the focus out of the field for the address, and an app gives its owner a discount, so the button would move away under
    the press."""
    to_checkout(page, store)
    page.get_by_label("Name", exact=True).focus()
    expect(page.locator("form.checkout")).to_have_attribute("data-sums", "known")
    with registered("order.calculate_discounts", lambda request: Discount(100, "Ten stars. " * 20)):
        page.get_by_label("E-mail").fill("ada@example.com")
        page.get_by_role("button", name="Place order").hover()
        page.mouse.down()
        page.wait_for_timeout(600)
        page.mouse.up()
        expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    assert Order.objects.get().discount == 100


@pytest.mark.long
@pytest.mark.journey
def test_two_presses_give_one_order(new_page: NewPage, store: str) -> None:
    """Without the script that holds the second one back."""
    page = new_page(java_script_enabled=False)
    to_checkout(page, store)
    page.get_by_role("button", name="Place order").dblclick()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    assert Order.objects.count() == 1
    page.go_back()
    expect(page.get_by_text("Your cart is empty")).to_be_visible()
    assert Order.objects.count() == 1


@pytest.mark.parametrize("scripted", [True, False])
def test_refusal_is_said_on_top_and_keeps_what_was_typed(
    new_page: NewPage, store: str, wallet: dict[str, Any], scripted: bool
) -> None:
    page = new_page(java_script_enabled=scripted)
    to_checkout(page, store)
    page.get_by_label("Harbour Wallet").check()
    page.get_by_label("Note to the store").fill("Sliced, please.")
    with registered(
        "order.validate", lambda request: OrderVerdict(valid=False, reason="Only one loaf a day.")
    ):
        page.get_by_role("button", name="Place order").click()
        expect(page.get_by_role("alert")).to_contain_text("Only one loaf a day.")
    if scripted:
        expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Kim")
    expect(page.get_by_label("Note to the store")).to_have_value("Sliced, please.")
    expect(page.get_by_label("Harbour Wallet")).to_be_checked()
    page.get_by_label("Cash").check()
    page.get_by_role("button", name="Place order").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")


@pytest.mark.parametrize("scripted", [True, False])
def test_failed_payment_is_chosen_again_and_shown_when_paid(
    new_page: NewPage, store: str, wallet: dict[str, Any], scripted: bool
) -> None:
    page = new_page(java_script_enabled=scripted)
    to_checkout(page, store)
    page.get_by_label("Harbour Wallet").check()
    with registered("order.calculate_discounts", lambda request: Discount(100, "Ten stars")):
        page.get_by_role("button", name="Place order").click()
        # A press while the sums are being worked out is kept, and goes on after it.
        expect(page.get_by_text("The payment failed.")).to_be_visible()
    expect(page.get_by_text("Ten stars")).to_be_visible()
    soon = timezone.now() + timedelta(minutes=10)
    wallet["answer"] = PaymentDetails("https://pay.example.com/1", "wallet://1", "INV-1", soon)
    page.get_by_role("link", name="Choose how to pay").click()
    page.get_by_label("Harbour Wallet").check()
    page.get_by_role("button", name="Pay this way").click()
    expect(page.get_by_role("link", name="Pay $12.00")).to_have_attribute("href", "https://pay.example.com/1")
    expect(page.get_by_role("img", name="QR code of the payment")).to_be_visible()
    if scripted:
        expect(page.get_by_text(re.compile(r"^09:5\d left$"))).to_be_visible()
    settle_payment(order=Order.objects.get(), provider="pay", status="COMPLETED")
    if not scripted:
        page.get_by_role("link", name="Check again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for your order")
    assert Order.objects.count() == 1


@pytest.mark.parametrize("scripted", [True, False])
def test_shopper_writes_a_review(new_page: NewPage, store: str, scripted: bool) -> None:
    page = new_page(java_script_enabled=scripted)
    page.goto(store + "products/rye/")
    page.locator("summary", has_text="Write a review").click()
    page.get_by_role("button", name="Publish review").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose a rating from 1 to 5.")
    page.get_by_label("4 – good").check()
    page.get_by_label("Comment").fill("Dense, as it should be.")
    page.get_by_label("Your name").fill("Kim")
    page.get_by_role("button", name="Publish review").click()
    expect(page.get_by_text("Dense, as it should be.")).to_be_visible()
    expect(page.get_by_text("4.0 from 1 review", exact=True)).to_be_visible()


def test_enter_in_a_quantity_updates_and_removes_nothing(page: Page, store: str) -> None:
    page.goto(store + "products/sourdough/")
    page.get_by_role("button", name="Add to cart").click()
    page.goto(store + "cart/")
    page.get_by_label("Quantity of Sourdough").fill("3")
    page.get_by_label("Quantity of Sourdough").press("Enter")
    expect(page.get_by_text("$19.50").first).to_be_visible()
    page.get_by_role("button", name="Remove Sourdough").click()
    expect(page.get_by_text("Your cart is empty")).to_be_visible()


def test_merchant_gets_to_the_store(page: Page, store: str, sign_in: SignIn, mira: User) -> None:
    sign_in(page.context, mira)
    page.goto("/merchant/")
    page.get_by_role("navigation", name="Your store").get_by_role("link", name="View store").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All products")


def visit(page: Page, store: str, path: str) -> None:
    """A page of the store in an interesting state."""
    if path == "cart/":
        page.goto(store + "products/sourdough/")
        page.get_by_role("button", name="Add to cart").click()
        page.goto(store + "products/rye/")
        page.get_by_role("button", name="Add to cart").click()
        Product.objects.filter(slug="rye").update(is_available=False)
    elif path != "cart/ empty" and path.startswith(("checkout/", "orders/")):
        to_checkout(page, store)
        if path == "checkout/ delivery":
            page.get_by_label("Delivery", exact=True).check()
        if path == "checkout/ errors":
            page.get_by_label("Name", exact=True).fill("")
            page.get_by_role("button", name="Place order").click()
        if path.startswith("orders/"):
            page.get_by_label("Cash" if path.endswith("cash") else "Harbour Wallet").check()
            page.get_by_role("button", name="Place order").click()
        if path.endswith("again"):
            page.get_by_role("link", name="Choose how to pay").click()
        return
    page.goto(store + path.partition(" ")[0])


def test_checkout_is_accessible(page: Page, store: str) -> None:
    """One of the pages above with every run."""
    to_checkout(page, store)
    assert violations(page) == []


@pytest.fixture
def shipping() -> Iterator[list[tuple[str, str]]]:
    """An app's discount, and its price for each town; gives what it was asked about."""
    asked: list[tuple[str, str]] = []

    def rate(question: HookRequest) -> ShippingRate:
        method, town = question.data["deliveryMethod"], question.data.get("locality", "")
        asked.append((method, town))
        return ShippingRate(0 if method == "PICKUP" else 990 if town == "Portside" else 1200)

    with (
        registered("checkout.shipping_rates", rate),
        registered("order.calculate_discounts", lambda request: Discount(300, "Two loaves")),
    ):
        yield asked


def test_total_follows_the_choices_without_a_button(
    page: Page, store: str, shipping: list[tuple[str, str]]
) -> None:
    """Apps are asked once for each choice, never while a town is being typed."""
    to_checkout(page, store)
    total = page.locator(".summary .total dd").filter(visible=True)
    expect(page.get_by_text("Two loaves")).to_be_visible()
    expect(total).to_have_text("$10.00")
    expect(page.get_by_role("button", name="Update total")).to_be_hidden()
    page.get_by_label("Delivery", exact=True).check()
    expect(total).to_have_text("$22.00")
    expect(page.locator(".summary")).not_to_contain_text("Pickup")
    page.get_by_label("Town").press_sequentially("Portside", delay=20)
    expect(total).to_have_text("$19.90")
    expect(page.get_by_role("status").filter(has_text="Total: $19.90")).to_be_attached()
    page.get_by_label("Note to the store").fill("Sliced, please.")
    page.get_by_label("Card").check()
    page.get_by_label("Pickup", exact=True).check()
    expect(total).to_have_text("$10.00")
    assert shipping == [("PICKUP", ""), ("DELIVERY", ""), ("DELIVERY", "Portside"), ("PICKUP", "")]


def test_total_that_could_not_be_updated_has_its_button(page: Page, store: str) -> None:
    def cut(route: Route) -> None:
        if route.request.method == "POST":
            route.abort()
        else:
            route.continue_()

    page.route("**/checkout/", cut)
    to_checkout(page, store)
    page.get_by_label("Delivery", exact=True).check()
    expect(page.locator(".summary .total dd").filter(visible=True)).to_have_text("$18.00")
    page.unroute("**/checkout/")
    page.get_by_role("button", name="Update total").click()
    expect(page.get_by_text("Price for the delivery method and town you chose.")).to_be_visible()


def test_shopper_who_comes_again_buys_in_three_presses(
    new_page: NewPage, store: str, wallet: dict[str, Any]
) -> None:
    """With delivery and the card, as the last time, though the store has a method of an app."""
    page = new_page()
    presses = 0

    def press(role: Any, name: str) -> None:
        nonlocal presses
        presses += 1
        page.get_by_role(role, name=name, exact=False).first.click()

    for turn in range(2):
        presses = 0
        page.goto(store)
        press("link", "Sourdough")
        press("button", "Buy now")
        page.get_by_label("Name", exact=True).fill("Kim")
        page.get_by_label("E-mail").fill("kim@example.com")
        if not turn:
            press("radio", "Delivery")
            press("radio", "Card")
        page.get_by_label("Address").fill("1 Quay Street")
        press("button", "Place order")
        page.wait_for_url("**/orders/**")
    assert presses == 3
    orders = Order.objects.values_list("delivery_method", "payment_method")
    assert list(orders) == [("DELIVERY", BuiltInPayment.CARD)] * 2
