"""The page editor as a merchant uses it, with an app on another origin."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Frame, FrameLocator, Page, expect

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import Placement
from extensions.services.extension_states import add_block
from installations.models import Installation
from stores.models import SitePage, StorePicture
from stores.services.pages import create_page, written
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.pictures import picture

from .app_site import AppSite
from .axe import violations
from .conftest import PHONE, NewPage, SignIn

SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "title": "Title", "default": "Stars", "maxLength": 20},
        "colour": {"type": "string", "format": "color", "title": "Color", "default": "#112233"},
    },
}


@pytest.fixture
def app_site(site: str, stores: str) -> Iterator[AppSite]:
    with AppSite(site, stores) as app_site:
        yield app_site


@pytest.fixture
def other_hosts(app_site: AppSite) -> list[str]:
    return [app_site.url]


@pytest.fixture
def installation(dana: User, shop: Business, app_site: AppSite) -> Installation:
    app = listed_app(dana, ["read_orders"], name="Loyalty Stars", slug="stars")
    define(
        app,
        ExtensionType.BLOCK,
        "stars",
        name="Star wall",
        renderUrl=f"{app_site.url}/block",
        settingsSchema=SCHEMA,
    )
    define(app, ExtensionType.BLOCK, "plain", name="Opening hours", renderUrl=f"{app_site.url}/block?plain")
    return installed(app, shop)


@pytest.fixture
def about(shop: Business) -> SitePage:
    return create_page(business=shop, title="About us", slug="about", content="<p>We bake.</p>")


@pytest.fixture
def merchant(new_page: NewPage, sign_in: SignIn, mira: User) -> NewPage:
    def make(**options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, mira)
        return page

    return make


def canvas(page: Page) -> FrameLocator:
    return page.frame_locator("iframe[data-draft]")


def frame_of(page: Page) -> Frame:
    expect(canvas(page).locator("iframe.block[data-ready]")).to_have_count(1)
    [found] = [frame for frame in page.frames if "/block" in frame.url]
    return found


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec(
    "Contract 6 Extensions", "Host pages: blocks are placed in the page editor, with live settings"
)
@pytest.mark.spec("Block iframe message protocol", "UPDATE while settings change in the sidebar")
def test_block_is_added_set_up_while_typing_and_saved(
    merchant: NewPage, shop: Business, about: SitePage, installation: Installation
) -> None:
    page = merchant()
    page.goto("/merchant/")
    page.get_by_role("link", name="Pages", exact=True).click()
    page.get_by_role("link", name="Edit").first.click()
    page.get_by_role("button", name="Add block").click()
    page.get_by_role("button", name="Star wall").click()
    expect(canvas(page).frame_locator("iframe.block").locator("#title")).to_have_text("Stars")
    page.get_by_role("textbox", name="Title").fill("Stars!")
    expect(canvas(page).frame_locator("iframe.block").locator("#title")).to_have_text("Stars!")
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    placement = Placement.objects.get()
    assert placement.settings == {}
    assert frame_of(page).evaluate("window.tokens.length") == 1  # of INIT: an UPDATE has none
    last = frame_of(page).evaluate("window.heard.at(-1)")
    assert last == {"settings": {"title": "Stars!", "colour": "#112233"}, "blockId": str(placement.pk)}
    assert violations(page) == []
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    placement.refresh_from_db()
    assert placement.settings["title"] == "Stars!"
    page.goto(f"/store/{shop.slug}/pages/about/")
    expect(page.frame_locator("iframe.block").locator("#title")).to_have_text("Stars!")


def test_value_that_the_schema_refuses_is_not_shown_or_saved(
    merchant: NewPage, about: SitePage, installation: Installation
) -> None:
    page = merchant()
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    page.get_by_role("button", name="Add block").click()
    page.get_by_role("button", name="Star wall").click()
    told = len(frame_of(page).evaluate("window.heard"))
    page.get_by_role("textbox", name="Title").evaluate("field => field.removeAttribute('maxlength')")
    with page.expect_response("**/preview/") as answer:
        page.get_by_role("textbox", name="Title").fill("Far more than twenty characters")
    assert answer.value.status == 422
    assert len(frame_of(page).evaluate("window.heard")) == told
    page.get_by_role("button", name="Save").last.click()
    expect(page.get_by_role("textbox", name="Title")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Far more than twenty characters")
    assert Placement.objects.get().settings == {}


@pytest.mark.parametrize("scripted", [True, False])
def test_blocks_are_moved_and_removed(
    merchant: NewPage, about: SitePage, installation: Installation, scripted: bool
) -> None:
    page = merchant(java_script_enabled=scripted)
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    for name in ("Star wall", "Opening hours"):
        page.get_by_role("button", name="Add block").click()
        page.get_by_role("button", name=name, exact=True).click()
    names = page.locator(".outline li > a span")
    expect(names).to_have_text(["Star wall", "Opening hours"])
    page.get_by_role("button", name="Move Opening hours up").click()
    expect(names).to_have_text(["Opening hours", "Star wall"])
    page.get_by_role("button", name="Move Opening hours down").click()
    expect(names).to_have_text(["Star wall", "Opening hours"])
    page.get_by_role("button", name="Remove Star wall").click()
    expect(names).to_have_text(["Opening hours"])
    assert [each.position for each in Placement.objects.all()] == [0]
    page.get_by_role("button", name="Undo last change").click()
    expect(names).to_have_text(["Star wall", "Opening hours"])
    widths = page.get_by_role("group", name="Width of the preview")
    if not scripted:
        expect(widths).to_be_hidden()
        return
    wide = page.locator("iframe[data-draft]").evaluate("each => each.clientWidth")
    for name, is_like in (("Phone", lambda now: now <= 390), ("Desktop", lambda now: now > wide)):
        widths.get_by_role("button", name=name).click()
        expect(widths.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        assert is_like(page.locator("iframe[data-draft]").evaluate("each => each.clientWidth"))


def test_text_of_the_page_is_edited_beside_its_blocks(
    merchant: NewPage, shop: Business, about: SitePage, installation: Installation
) -> None:
    page = merchant(java_script_enabled=False)
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    page.get_by_role("textbox", name="Title").fill("Who we are")
    page.get_by_role("textbox", name="Text").fill("<p>We bake bread.</p><script>alert(1)</script>")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Who we are")
    about.refresh_from_db()
    assert (about.slug, about.content) == ("about", "<p>We bake bread.</p>")
    page.get_by_role("textbox", name="Title").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Enter a title.").first).to_be_visible()


def test_text_looks_as_it_will_while_it_is_written(
    merchant: NewPage, shop: Business, about: SitePage
) -> None:
    """The page keeps Markdown. A picture is uploaded where the cursor is."""
    page = merchant()
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    text = page.get_by_role("textbox", name="Text")
    expect(text).to_contain_text("We bake.")
    text.click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Our bread")
    page.get_by_role("button", name="Heading").click()
    size = "each => parseFloat(getComputedStyle(each).fontSize)"
    assert text.locator(".TMH2").evaluate(size) > text.evaluate(size)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("Baked **by hand**.")
    assert int(text.locator(".TMStrong").evaluate("each => getComputedStyle(each).fontWeight")) >= 600
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Picture").click()
    choosing.value.set_files({"name": "a_loaf.png", "mimeType": "image/png", "buffer": picture()})
    expect(text).to_contain_text("a loaf")
    expect(canvas(page).locator(".prose strong")).to_have_text("by hand")  # the canvas follows
    assert violations(page) == []
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    about.refresh_from_db()
    assert about.source.startswith("## Our bread\n\nBaked **by hand**.\n\n![a loaf](/media/stores/")
    page.goto(f"/store/{shop.slug}/pages/about/")
    assert page.locator("img[alt='a loaf']").evaluate("each => each.naturalWidth") == 32


def test_picture_that_is_none_is_refused_and_nothing_is_lost(merchant: NewPage, about: SitePage) -> None:
    page = merchant()
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Picture").click()
    choosing.value.set_files({"name": "a.png", "mimeType": "image/png", "buffer": b"no picture"})
    expect(page.locator(".markdown-bar [role=status]")).not_to_be_empty()
    expect(page.get_by_role("textbox", name="Text")).to_contain_text("We bake.")
    assert not StorePicture.objects.exists()


def test_block_that_stays_silent_is_said_to_be_late(
    merchant: NewPage, about: SitePage, installation: Installation, app_site: AppSite
) -> None:
    app_site.pages["/block"] = ("text/html", b"<!doctype html><title>Silent</title>")
    page = merchant()
    page.clock.install()
    page.goto(f"/merchant/pages/{about.pk}/edit/")
    page.get_by_role("button", name="Add block").click()
    page.get_by_role("button", name="Opening hours").click()
    expect(canvas(page).get_by_text("This block has not loaded")).to_be_hidden()
    page.clock.fast_forward(8100)
    expect(canvas(page).get_by_text("This block has not loaded")).to_be_visible()
    del app_site.pages["/block"]
    canvas(page).get_by_role("button", name="Try again").click()
    expect(canvas(page).get_by_text("This block has not loaded")).to_be_hidden()


SOURCE = "## Hours\n\nDaily **from six**.\n\n- Bread\n- Cakes\n\nCome in."


@pytest.fixture
def hours(shop: Business) -> SitePage:
    return create_page(business=shop, title="Hours", slug="hours", **written(SOURCE))


def paste(page: Page, text: str) -> None:
    """As from another page: with its format, which must stay out."""
    canvas(page).locator(":focus").evaluate(
        """(element, text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            clipboardData.setData("text/html", `<b>${text}</b>`);
            element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true, bubbles: true }));
        }""",
        text,
    )


@pytest.mark.spec("Contract 7 Pages", "Title and text of a page are typed where the store shows them")
def test_title_and_text_are_typed_on_the_page(merchant: NewPage, shop: Business, hours: SitePage) -> None:
    page = merchant()
    page.goto(f"/merchant/pages/{hours.pk}/edit/")
    title, field = canvas(page).locator("h1"), page.get_by_label("Title", exact=True)
    title.click()
    page.keyboard.press("ControlOrMeta+a")
    paste(page, "When we\nare open")
    page.keyboard.press("Enter")
    page.keyboard.type("!")
    expect(field).to_have_value("When we are open!")
    paste(page, "x" * 300)
    assert len(field.input_value()) == int(field.get_attribute("maxlength") or "")
    field.fill("Open")
    expect(title).to_have_text("Open")

    height = "each => each.getBoundingClientRect().height"
    page.get_by_text("Side by side").click()
    in_store = page.frame_locator("iframe[data-live-page]").locator(".prose > ul")
    assert canvas(page).locator(".prose > ul").evaluate(height) == in_store.evaluate(height)
    page.get_by_text("Draft", exact=True).click()

    text = page.locator("textarea[name=content]")
    bold = canvas(page).locator(".prose > p").first
    expect(bold).to_have_text("Daily from six.")
    bold.click()
    expect(bold).to_have_text("Daily **from six**.")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type("Not on *Mondays*.")
    heading = canvas(page).locator(".prose > h2")
    heading.click()  # while the text is drawn again
    page.keyboard.press("End")
    page.keyboard.type(" of ours")
    last = canvas(page).get_by_text("Come in.")
    last.click()
    page.keyboard.press("End")
    paste(page, "\n\nOr call.")
    expected = SOURCE.replace("six**.", "six**.\n\nNot on *Mondays*.").replace("Hours", "Hours of ours")
    expected += "\n\nOr call."
    expect(text).to_have_value(expected)
    expect(canvas(page).locator(".prose > p > :is(strong, em)")).to_have_text(["from six", "Mondays"])
    expect(heading).to_have_text("Hours of ours")
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Text")).to_be_focused()
    expect(page.get_by_role("textbox", name="Text")).to_contain_text("Not on *Mondays*.")
    expect(canvas(page).locator(".prose > p").last).to_have_text("Or call.")
    assert violations(page) == []
    assert hours.source == SitePage.objects.get().source, "Nothing is kept before Save."
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    hours.refresh_from_db()
    assert (hours.title, hours.source) == ("Open", expected)


def test_page_is_reached_and_left_by_keyboard_and_an_empty_one_has_a_place_to_begin(
    merchant: NewPage, shop: Business
) -> None:
    empty = create_page(business=shop, title="Empty", slug="empty")
    page = merchant()
    page.goto(f"/merchant/pages/{empty.pk}/edit/")
    expect(canvas(page).locator(".prose > p")).to_have_attribute(
        "data-placeholder", re.compile("Write the text")
    )
    page.get_by_role("button", name="Phone").focus()
    page.keyboard.press("Tab")
    if canvas(page).locator("html:focus-within").count() == 0 or not canvas(page).locator("h1:focus").count():
        page.keyboard.press("Tab")  # a frame that scrolls is a stop of its own
    focused = canvas(page).locator("h1:focus")
    assert focused.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    expect(focused).to_have_role("textbox")
    page.keyboard.press("Tab")
    page.keyboard.type("We bake.")
    page.keyboard.press("Enter")
    page.keyboard.type("Daily.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("textbox", name="Text")).to_be_focused()
    expect(page.locator("textarea[name=content]")).to_have_value("We bake.\nDaily.")


MEDDLING = b"""<!doctype html><html lang="en"><title>Block</title><h1 id="title">Block</h1><script>
window.reached = [];
for (const page of [parent, parent.parent, top]) {
  for (const type of ["input", "text", "block:update", "SERVICE_BLOCK_UPDATE"])
    page.postMessage({ type, field: "title", title: "Mine", text: "Mine", value: "Mine", settings: { title: "Mine" } }, "*");
  try { page.document.querySelector("h1").textContent = "Mine"; window.reached.push("document"); } catch {}
}
</script></html>"""


def test_block_of_an_app_writes_nothing_on_the_page(
    merchant: NewPage, hours: SitePage, installation: Installation, app_site: AppSite
) -> None:
    app_site.pages["/block"] = ("text/html", MEDDLING)
    add_block(page=hours, installation=installation, definition=installation.app.definitions.get(key="plain"))
    page = merchant()
    page.goto(f"/merchant/pages/{hours.pk}/edit/")
    block = canvas(page).frame_locator("iframe.block")
    expect(block.locator("#title")).to_have_text("Block")
    assert block.locator("html").evaluate("() => window.reached") == []
    title = canvas(page).locator("h1")
    title.click()
    page.keyboard.press("End")
    page.keyboard.type("!")
    expect(page.get_by_label("Title", exact=True)).to_have_value("Hours!")
    expect(page.locator("textarea[name=content]")).to_have_value(SOURCE)


@pytest.mark.spec("Contract 7 Pages", "The page editor shows what shoppers see beside the draft")
def test_draft_is_shown_beside_what_shoppers_see(merchant: NewPage, hours: SitePage) -> None:
    page = merchant()
    page.goto(f"/merchant/pages/{hours.pk}/edit/")
    live = page.frame_locator("iframe[data-live-page]")
    draft_frame, live_frame = page.locator("iframe[data-draft]"), page.locator("iframe[data-live-page]")
    expect(live_frame).to_be_hidden()
    canvas(page).get_by_text("Come in.").click()
    page.keyboard.press("End")
    page.keyboard.type(" We wait.")
    page.get_by_text("Side by side").click()
    expect(draft_frame).to_be_visible()
    expect(live.get_by_text("Come in.", exact=True)).to_be_visible()
    expect(canvas(page).locator(".compares .changed")).to_have_text(["Come in. We wait."])
    page.get_by_label("Title", exact=True).fill("Open")
    expect(canvas(page).locator(".changed")).to_have_text(["Open", "Come in. We wait."])
    expect(live.locator("h1")).to_have_text("Hours")
    assert violations(page) == []
    page.get_by_text("Live", exact=True).click()
    expect(draft_frame).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Live", exact=True).click()
    expect(live.locator("h1")).to_have_text("Open")
    SitePage.objects.update(is_published=False)
    page.reload()
    page.get_by_text("Live", exact=True).click()
    expect(page.get_by_text("Shoppers don’t see this page yet.")).to_be_visible()


def test_draft_and_live_are_shown_without_scripts(merchant: NewPage, hours: SitePage) -> None:
    page = merchant(java_script_enabled=False)
    page.goto(f"/merchant/pages/{hours.pk}/edit/")
    page.get_by_label("Title", exact=True).fill("Open")
    page.get_by_role("button", name="Preview").click()
    expect(canvas(page).locator("h1")).to_have_text("Open")
    page.get_by_text("Live", exact=True).click()
    expect(page.locator("iframe[data-draft]")).to_be_hidden()
    expect(page.frame_locator("iframe[data-live-page]").locator("h1")).to_have_text("Hours")


def test_page_of_another_merchant_is_not_found(
    merchant: NewPage, about: SitePage, installation: Installation, dana: User, sandbox: Business
) -> None:
    other = create_page(business=sandbox, title="Not yours")
    page = merchant()
    answer = page.goto(f"/merchant/pages/{other.pk}/edit/")
    assert answer
    assert answer.status == 404


@pytest.mark.slow
@pytest.mark.parametrize("look", [{"color_scheme": "light"}, {"color_scheme": "dark"}, PHONE])
def test_editor_is_accessible(
    merchant: NewPage, about: SitePage, installation: Installation, look: dict[str, object]
) -> None:
    block = installation.app.definitions.get(key="stars")
    placement = add_block(page=about, installation=installation, definition=block)
    page = merchant(**look)
    for query in ("", f"?block={placement.pk}"):
        page.goto(f"/merchant/pages/{about.pk}/edit/{query}")
        assert violations(page) == []
        expect(page.locator("h1")).to_have_count(1)
