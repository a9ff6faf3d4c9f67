"""The documentation with its script: the search box by keyboard, copying a page, the navigation."""

from playwright.sync_api import expect

from .conftest import PHONE, NewPage


def test_search_by_keyboard(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/docs/guides/events/")
    page.keyboard.press("/")
    field = page.get_by_role("searchbox", name="Search the documentation")
    expect(field).to_be_focused()
    field.press_sequentially("rate limit/")  # a slash in the field is a letter
    results = page.locator("#search a")
    expect(results.first).to_contain_text("Rate limits")
    page.keyboard.press("Escape")  # empties the field
    expect(results).to_have_count(0)
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    page.get_by_role("button", name="Search the docs").click()
    field.fill("rate limits")
    expect(results.first).to_contain_text("Rate limits")
    page.keyboard.press("ArrowDown")
    expect(results.first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/docs/guides/api/#rate-limits")
    page.keyboard.press("/")
    field.fill("exhausted")
    page.keyboard.press("Enter")  # before the list is there: the page of results
    page.wait_for_url("**/docs/search/?q=exhausted")


def test_current_entry_is_in_view_and_the_page_is_copied(new_page: NewPage) -> None:
    page = new_page(
        viewport={"width": 1280, "height": 600}, permissions=["clipboard-read", "clipboard-write"]
    )
    page.goto("/docs/guides/contract/")
    expect(page.locator('.side-nav [aria-current="page"]')).to_be_in_viewport()
    page.get_by_role("button", name="Copy page as Markdown").click()
    expect(page.locator("[data-copy-page][data-done]")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("# Contract\n")


def test_tables_of_guides_fit_a_phone(new_page: NewPage) -> None:
    page = new_page(**PHONE)
    for guide in ("api", "contract", "platform-contract"):
        page.goto(f"/docs/guides/{guide}/")
        tables = page.locator(".table-wrap:has([data-label])")
        assert tables.count() > 1
        cut = tables.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length")
        assert cut == 0, guide


def test_menu_on_a_phone(new_page: NewPage) -> None:
    page = new_page(**PHONE)
    page.goto("/docs/guides/signatures/")
    page.get_by_role("button", name="Verify signatures").click()
    expect(page.locator(".side-nav [aria-current]")).to_be_in_viewport()
    page.get_by_role("link", name="Limits", exact=True).click()
    page.wait_for_url("**/docs/limits/")


def test_choice_of_a_framework_is_remembered_and_addresses_unfold(new_page: NewPage) -> None:
    page = new_page()
    page.goto("/docs/guides/first-app/")
    expect(page.get_by_text("flask run --port 3000")).to_be_visible()
    page.get_by_text("FastAPI", exact=True).click()
    expect(page.get_by_text("uvicorn app:app")).to_be_visible()
    expect(page.get_by_text("flask run --port 3000")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("radio", name="FastAPI")).to_be_checked()
    page.goto("/docs/guides/first-app/#node")
    expect(page.get_by_text("npm start")).to_be_visible()
    page.goto("/docs/reference/orders/")
    page.locator(".tabbed").first.get_by_text("Python").click()
    page.goto("/docs/reference/products/")
    assert {each.input_value() for each in page.locator(".tabbed input:checked").all()} == {"Python"}
    page.goto("/docs/errors/")
    expect(page.get_by_text("too_many_apps")).to_be_hidden()
    page.goto("/docs/errors/#too_many_apps")
    expect(page.locator("#too_many_apps")).to_be_in_viewport()
