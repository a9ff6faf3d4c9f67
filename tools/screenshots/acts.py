"""What is pressed and typed before a picture is taken, by the shots of `shots`."""

from collections.abc import Callable

from playwright.sync_api import Page

from tools.screenshots import cast as everybody

PASSWORD = "extension-demo"  # of the demo, whose module needs Django


def press(*names: str) -> Callable[[Page], None]:
    """Presses buttons, one after the other."""

    def act(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name).first.click()
        page.wait_for_load_state()

    return act


def open_theme_menu(page: Page) -> None:
    """Opens the menu with the themes, which visitors on phones find in the site's."""
    page.get_by_label("Theme").or_(page.get_by_label("Site menu")).filter(visible=True).first.click()


def publish_empty_review(page: Page) -> None:
    page.locator("summary", has_text="Write a review").click()
    press("Publish review")(page)


def create_with_example(page: Page) -> None:
    """Creates an app from an example, whose requests and secrets the next page shows."""
    page.get_by_label("Name", exact=True).fill("Basket Bonus")
    page.get_by_label("Checkout hook").check()
    press("Create app")(page)


def run_first_call(page: Page) -> None:
    """Creates another app, and sends its first request from the page."""
    page.get_by_label("Name", exact=True).fill("Restock Radar")
    press("Create app", "Run it here")(page)
    page.get_by_text("Your first call").wait_for()


def check_twice(page: Page) -> None:
    """Has the app's server checked, and goes back to the list."""
    for _ in range(2):
        press("Run check")(page)
        page.get_by_label("Breadcrumb").get_by_role("link", name="Checks").click()


def play_a_day(page: Page) -> None:
    """Plays the first scenario of the test store."""
    press("Play A day of trading")(page)
    page.get_by_role("heading", name="A day of trading").wait_for()


def open_entry(page: Page) -> None:
    page.locator(".entries summary").first.click()


def regenerate(page: Page) -> None:
    """Asks for a new client secret, and does what the page wants to be sure."""
    page.get_by_label("to confirm").fill("loyalty-stars")
    press("Regenerate secret")(page)


def show_payload(page: Page) -> None:
    page.get_by_text("Payload of order.cancelled").click()


def change_redirect_url(page: Page) -> None:
    """An unsaved change, with which the bar to save it appears."""
    page.get_by_label("Redirect URL").fill("https://app.example.com/connected")


def open_endpoint(page: Page) -> None:
    page.locator(".endpoints summary", has_text="old.example.com").click()


def preview_filter(page: Page) -> None:
    """Of a condition that some events of the sandbox store don't have."""
    page.get_by_label("order.created").check()
    page.get_by_label("Field of condition 1").fill("amount")
    page.get_by_label("Comparison of condition 1").select_option("gte")
    page.get_by_label("Value of condition 1").fill("12")
    press("Preview filter")(page)


def mistype_filter(page: Page) -> None:
    page.get_by_label("order.created").check()
    page.get_by_label("Field of condition 1").fill("amounts")
    page.get_by_label("Value of condition 1").fill("12")
    press("Preview filter")(page)


def add_endpoint(page: Page) -> None:
    """Adds one that refuses the first test, and receives what another one receives too."""
    page.get_by_label("URL").fill("http://127.0.0.1:9/hooks")
    page.get_by_label("order.created").check()
    press("Add endpoint")(page)


def change_address(page: Page) -> None:
    page.get_by_label("New e-mail address").fill("devi@new.example.com")
    press("Send link")(page)


def prove(page: Page) -> None:
    """Enters the password where the page asks for it, which it does once."""
    if "/accounts/prove/" in page.url:
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        press("Continue")(page)


def sign_in_as_theo(page: Page) -> None:
    """Up to the second step, which asks for a code."""
    page.get_by_label("E-mail").fill("theo@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    press("Sign in")(page)


def unfold(page: Page) -> None:
    page.locator("details.past > summary").click()


def computed_without_a_timestamp(page: Page) -> None:
    """Has a delivery checked, with a value that no code computed."""
    page.get_by_label("your code computed").fill("ab" * 32)
    press("Check")(page)


def open_picture(page: Page) -> None:
    page.locator(".pictures a").first.click()


def open_tables(page: Page) -> None:
    press("Show tables")(page)


def common_reasons(page: Page) -> None:
    """Selects a common reason and previews the e-mail."""
    page.get_by_text("Common reasons").click()
    page.get_by_label("Add screenshots").check()
    press("Preview e-mail")(page)
    page.get_by_text("Common reasons").click()


def add_entries(page: Page) -> None:
    """Adds an entry to two lists of a settings form."""
    for button in ("Add to Treats", "Add to Closed days"):
        page.get_by_role("button", name=button).click()
        page.wait_for_timeout(400)


def bad_settings(page: Page) -> None:
    """Sends settings that break the app's rules."""
    page.get_by_label("Heading").fill("")
    page.get_by_label("Stamps needed").fill("99")
    page.get_by_label("Link to your terms").fill("javascript:alert(1)")
    page.get_by_label("Printer").fill("AB 12")
    page.get_by_role("button", name="Remove Treat 1").click()
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Save").last.click()
    page.wait_for_load_state()


def misspell(page: Page) -> None:
    """Types over the manifest in the editor, and has it checked."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(everybody.BAD_MANIFEST)
    press("Check")(page)
    page.locator(".cm-lintRange-error").first.wait_for()
    page.locator(".cm-editor").scroll_into_view_if_needed()  # it measures its lines once they are in view
    page.wait_for_timeout(200)


def rename_block(page: Page) -> None:
    """Another manifest than the one in force, on its way to be saved."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(everybody.OTHER_MANIFEST)
    press("Save")(page)


def first_failed_call(page: Page) -> None:
    page.get_by_role("row", name="Unexpected JSON").get_by_role("link").first.click()


def frames_ready(page: Page) -> None:
    """Waits until every frame of an app shows its page, which those further down do once they are in view."""
    canvas = page.locator("iframe[data-draft]")
    within = canvas.content_frame.locator("iframe") if canvas.count() else page.locator("iframe:visible")
    if canvas.count():
        canvas.content_frame.locator("h1").wait_for()
    for frame in within.all():
        frame.scroll_into_view_if_needed()
        frame.content_frame.locator("body :visible").first.wait_for()
    page.wait_for_load_state("networkidle")
    if canvas.count():
        canvas.content_frame.locator("html").evaluate("page => page.scrollTo(0, 0)")
    page.wait_for_timeout(300)


def type_on_the_page(page: Page) -> None:
    """Into the second paragraph, and shows what shoppers see beside it, for which a phone has no room."""
    frames_ready(page)
    canvas = page.frame_locator("iframe[data-draft]")
    canvas.locator("h1").click()
    page.keyboard.press("End")
    page.keyboard.type(" and our bread")
    canvas.locator(".prose > p").nth(1).click()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type(" Ask us about **rye**.")
    page.keyboard.press("Escape")
    canvas.locator(".prose strong").wait_for()
    if page.get_by_text("Side by side").is_visible():
        page.get_by_text("Side by side").click()
        page.frame_locator("iframe[data-live-page]").locator("h1").wait_for()
    page.wait_for_timeout(600)


def type_a_title(page: Page) -> None:
    frames_ready(page)
    page.get_by_role("textbox", name="Title").fill("Kind words from Mill Lane")
    canvas = page.frame_locator("iframe[data-draft]")
    canvas.frame_locator("iframe.block").first.get_by_text("Kind words from Mill Lane").wait_for()


def preview_block(page: Page) -> None:
    """Opens a block of the picker on the page, before it is added."""
    press("Add block")(page)
    page.get_by_role("link", name="Preview").first.click()
    frames_ready(page)


def find_customer(text: str) -> Callable[[Page], None]:
    """What the customers' search finds for a text."""

    def search(page: Page) -> None:
        page.get_by_role("main").get_by_role("searchbox").fill(text)
        press("Search")(page)

    return search


def wrong_stock(page: Page) -> None:
    """A stock that is no number, in the second row of the list."""
    page.get_by_role("textbox", name="Stock of").nth(1).fill("a dozen")
    page.keyboard.press("Tab")
    page.get_by_role("alert").wait_for()


def into_cart(page: Page) -> None:
    """Two of what is shown, and one of something else."""
    page.get_by_label("Quantity").fill("2")
    press("Add to cart")(page)
    page.goto(page.url.replace("country-sourdough", "carrot-cake"))
    press("Add to cart")(page)
    page.get_by_role("link", name="Cart", exact=True).click()


def cart_in_trouble(page: Page) -> None:
    into_cart(page)
    page.get_by_label("Quantity of Carrot Cake").fill("50")
    page.keyboard.press("Tab")
    page.locator(".trouble").wait_for()


def to_checkout(page: Page) -> None:
    into_cart(page)
    page.get_by_role("link", name="Checkout").click()


def to_delivery(page: Page) -> None:
    to_checkout(page)
    page.get_by_label("Delivery", exact=True).check()


def total(page: Page) -> None:
    to_delivery(page)
    page.get_by_label("Town").fill("Portside")
    page.get_by_label("Town").blur()
    page.get_by_text("Price for the delivery method and town you chose.").wait_for()


def empty_checkout(page: Page) -> None:
    to_delivery(page)
    press("Place order")(page)  # which waits for the total
    page.locator(".error-summary").wait_for()


def search(words: str) -> Callable[[Page], None]:
    """Types into the search box."""

    def act(page: Page) -> None:
        page.keyboard.press("/")
        page.keyboard.type(words)
        page.locator("#search a").first.wait_for()

    return act
