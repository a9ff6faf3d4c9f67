"""The storefront's pages and the store's settings, as the merchant makes them."""

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from extensions.enums import ExtensionType
from stores.models import SitePage, StorePicture
from stores.samples.store import fill_store
from stores.services.catalogue import pictures
from stores.services.pages import create_page, editable, update_page
from stores.services.settings import change_look
from tests import factories
from tests.extensions.cast import define
from tests.forms import form_at, send
from tests.merchants.counting import statements_of
from tests.merchants.pages import installed, listed_app
from tests.pages import signed_in, text_of
from tests.pictures import upload
from tests.storefront.shopping import Shopper

SCRIPTED = "https://chat.example.com/chat.js"
LIST = "/merchant/pages/"
NEW = {"title": "Opening hours", "slug": "", "content": "<p>Daily.</p>", "is_published": "on"}


def without_lines(html: str) -> str:
    return re.sub(r' data-lines="\d+ \d+"', "", html)


def words(response):
    return unescape(text_of(response))


# --- Pages ------------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 7 Pages", "/merchant/ holds pages with blocks: Edit leads to the page editor")
def test_pages_are_listed_with_their_address_state_and_editor(browser, shop):
    about = create_page(business=shop, title="About us", slug="about")
    create_page(business=shop, title="Holidays", slug="holidays", is_published=False)
    page = words(browser.get(LIST))
    assert page.index("Holidays") < page.index("About us")
    assert f'href="http://stores.test/store/{shop.slug}/pages/about/"' in page
    assert f'href="http://stores.test/store/{shop.slug}/pages/holidays/"' not in page
    assert "Not published" in page
    edit = f"/merchant/pages/{about.pk}/edit/"
    assert f'href="{edit}">Edit<' in page
    assert browser.get(edit).status_code == 200


@pytest.mark.parametrize("is_published", [True, False])
def test_page_is_written_on_the_stores_own_page(browser, shop, dana, is_published):
    """In its looks, its language and with its head, without scripts of apps. Only a published page has what shoppers see beside it."""
    change_look(business=shop, accent="amber", headings="classic")
    Business.objects.filter(pk=shop.pk).update(locale="de")
    factories.product(shop, category="Bread")
    app = listed_app(dana, [], slug="chat")
    define(app, ExtensionType.EMBED, "chat", kind="GLOBAL_SCRIPT", position="head", scriptUrl=SCRIPTED)
    installed(app, shop)
    about = create_page(business=shop, title="About us", slug="about", is_published=is_published)
    if is_published:
        shopper = Shopper(shop)
        assert SCRIPTED in shopper.get(shopper.at("pages/about/")).text
    edit = f"{LIST}{about.pk}/edit/"
    documents = re.findall(r'srcdoc="([^"]*)"', browser.get(edit).text)
    assert len(documents) == 1 + is_published
    for each in map(unescape, documents):
        assert '<html lang="de">' in each
        assert 'data-accent="amber" data-headings="classic"' in each
        assert "Produkte suchen" in each
        assert f'href="/store/{shop.slug}/?category=Bread"' in each
        assert SCRIPTED not in each
    typed = NEW | {"title": "Who we are</title><script>x()", "content": "*Bakers*", "preview": "1"}
    draft, *live = re.findall(r'srcdoc="([^"]*)"', browser.post(edit, typed).text)
    assert "<em>Bakers</em>" in unescape(draft)
    assert "&lt;script&gt;x()" in unescape(draft)
    assert "<script>x()" not in unescape(draft)
    assert ["Bakers" in unescape(each) or "Who we are" in each for each in live] == [False] * is_published


def test_list_takes_the_same_statements_however_many_pages(browser, shop):
    def statements_with_more(pages):
        for _ in range(pages):
            create_page(business=shop, title="A page")
        return statements_of(browser, LIST)

    assert statements_with_more(1) == statements_with_more(3)


@pytest.mark.spec("Contract 15 Doors", "Every text that people or apps send has a maximum")
def test_text_from_before_there_was_a_maximum_stays_until_it_is_changed(browser, shop):
    page = create_page(business=shop, title="About")
    before = "x" * 30_000
    SitePage.objects.update(content=before)
    edit = f"{LIST}{page.pk}/edit/"
    assert send(browser, form_at(browser, edit), title="About us").status_code == 302
    page.refresh_from_db()
    assert (page.title, page.content) == ("About us", before)
    for button in ({}, {"preview": "1"}):
        response = send(browser, form_at(browser, edit), content=before[1:], **button)
        assert response.status_code == 422
        assert "at most 20000 characters (it has 29999)" in text_of(response)
    page.refresh_from_db()
    assert page.content == before


def test_page_is_added_and_cleaned(browser, shop):
    response = browser.post(
        f"{LIST}add/", NEW | {"content": "<p>Daily.</p><script>x()</script>"}, follow=True
    )
    made = SitePage.objects.get(business=shop)
    assert response.redirect_chain == [(LIST, 302)]
    assert (made.slug, made.content, made.is_published) == ("opening-hours", "<p>Daily.</p>", True)
    assert "Page Opening hours added." in words(response)


@pytest.mark.spec("Contract 15 Doors", "HTML that was kept is shown as HTML")
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("24. December: closed\n2. January: open", "<p>24. December: closed<br>\n2. January: open</p>"),
        ("1. Rye\n24. Spelt", '<ol>\n<li>Rye</li>\n<li value="24">Spelt</li>\n</ol>'),
        ("<h2>Hours</h2>\n\n    <ul>\n\n        <li>1. *May*</li>\n\n    </ul>", None),  # as it is
        ("<p>One</p>\n\n24. **May**", "<p>One</p>\n<p>24. <strong>May</strong></p>"),
        ("<b>One</b>\nTwo", "<p><b>One</b><br>\nTwo</p>"),
        ("<p>One", "<p>One</p>"),
    ],
)
def test_text_is_shown_as_it_was_typed_in_the_store_and_before(
    browser: Client, shop: Business, typed: str, shown: str | None
) -> None:
    browser.post(f"{LIST}add/", NEW | {"content": typed.replace("\n", "\r\n")})
    made = SitePage.objects.get(business=shop)
    assert made.content.strip() == (shown or typed)
    preview = browser.post(f"{LIST}{made.pk}/text/", {"content": typed})
    assert without_lines(preview.text) == made.content
    shopper = Shopper(shop)
    assert f">{made.content}</" in shopper.get(shopper.at("pages/opening-hours/")).text


def test_text_is_written_in_markdown_and_opens_as_it_was_written(browser, shop):
    source = "# Hours\n\nOpen **daily**.\n\n<p>Kept <i>HTML</i></p>\n\n[x](javascript:alert(1))<script>x()</script>"
    browser.post(f"{LIST}add/", NEW | {"content": source.replace("\n", "\r\n")})
    made = SitePage.objects.get(business=shop)
    assert made.content.startswith(
        "<h2>Hours</h2>\n<p>Open <strong>daily</strong>.</p>\n<p>Kept <i>HTML</i></p>"
    )
    assert "<script" not in made.content
    assert "<a" not in made.content
    edit = f"{LIST}{made.pk}/edit/"
    assert "# Hours Open **daily**." in words(browser.get(edit))
    preview = browser.post(f"{LIST}{made.pk}/text/", {"content": "*new*<script>x()</script>"})
    assert preview.content == b'<p data-lines="0 1"><em>new</em></p>\n'
    shown = unescape(words(browser.post(edit, NEW | {"content": "*newer*", "preview": "1"})))
    assert '<p data-lines="0 1"><em>newer</em></p>' in shown
    assert "*newer*</textarea>" in shown
    update_page(page=made, content="<ul>\n\n    <li>By the API</li>\n\n</ul>")
    made.refresh_from_db()
    browser.post(edit, NEW | {"title": "Hours", "content": editable(made)})
    made.refresh_from_db()
    assert (made.title, made.content, made.source) == (
        "Hours",
        "<ul>\n\n    <li>By the API</li>\n\n</ul>",
        "",
    )


@pytest.mark.parametrize(
    ("field", "typed", "message"),
    [
        ("title", "", "Enter a title."),
        ("slug", "opening hours", "Use letters, digits and hyphens."),
        ("slug", "taken", "The address “taken” is taken."),
    ],
)
def test_page_with_a_fault_is_not_added_and_keeps_what_was_typed(browser, shop, field, typed, message):
    create_page(business=shop, title="The other", slug="taken")
    response = browser.post(f"{LIST}add/", NEW | {field: typed})
    assert response.status_code == 422
    assert f'href="#id_{field}">{message}' in words(response)
    assert "<p>Daily.</p>" in words(response)
    assert SitePage.objects.get().title == "The other"


def test_deleting_a_page_asks_first(browser, shop):
    about = create_page(business=shop, title="About us", slug="about")
    assert "Delete <span" in text_of(browser.get(f"{LIST}{about.pk}/delete/"))
    assert SitePage.objects.exists()
    response = browser.post(f"{LIST}{about.pk}/delete/", follow=True)
    assert "Page About us deleted." in words(response)
    assert not SitePage.objects.exists()
    assert browser.post(f"{LIST}{about.pk}/delete/").status_code == 404


# --- The overview -----------------------------------------------------------------------------------


def figures(browser, **query):
    """Paid, unpaid, orders and the paid share, each with what is said below it."""
    page = words(browser.get("/merchant/", query))
    parts = page.split('<dd class="value">')[1:]
    return [re.sub("<[^>]+>", "", part.split("</div>")[0]).strip() for part in parts]


@pytest.mark.long
def test_overview_tells_of_days_in_the_zone_of_the_shop_beside_those_before(browser, shop):
    shop.timezone = "Europe/Lisbon"  # one hour ahead of UTC in summer
    shop.save()
    midnight = datetime(2026, 7, 14, 23, 0, tzinfo=UTC)
    factories.order(shop, created_at=midnight, amount=1000, subtotal=1000, status="DELIVERED")
    factories.order(shop, created_at=midnight, status="READY")
    factories.order(shop, created_at=midnight, status="CANCELLED")
    factories.order(shop, created_at=midnight.replace(hour=22, minute=59), status="DELIVERED", refunded=400)

    def values(day, **query):
        with time_machine.travel(datetime(2026, 7, day, 12, 0, tzinfo=UTC), tick=False):
            return figures(signed_in(shop.owner), **query)

    assert values(21) == [
        "$10.00 38% less than before", "$20.00 Unpaid orders", "3 200% more than before", "33% 100% before",
        "0 None before",
    ]  # fmt: skip
    assert values(20)[0] == "$26.00 None before"
    assert values(31)[0] == "$0.00 None before"
    assert values(31, days="30")[0] == "$26.00 None before"
    assert values(31, days="8")[0] == "$0.00 None before", "an unknown number of days is 7"


def test_overview_counts_what_is_low_or_sold_out(browser, shop, sandbox):
    factories.product(shop, stock=0)
    factories.product(shop, stock=4, low_stock_threshold=5)
    factories.product(shop, stock=5, low_stock_threshold=5)
    factories.product(shop, low_stock_threshold=5)
    factories.product(shop, stock=0, status="ARCHIVED")
    factories.product(sandbox, stock=0)
    page = text_of(browser.get("/merchant/"))
    assert page.count("2 products are low or sold out</p>") == 1, "each figure once"
    assert 'href="/merchant/products/?show=low"' in page


def test_overview_of_an_empty_shop_is_calm(browser, shop):
    page = text_of(browser.get("/merchant/"))
    assert figures(browser) == [], "from the first order on"
    assert "Needs your attention" not in page
    assert page.count('class="button primary"') == 1
    assert 'class="button primary" href="/merchant/products/add/">Add product</a>' in page


def test_overview_says_your_first_order_once(browser, shop):
    factories.product(shop)
    assert "Your first order" not in text_of(browser.get("/merchant/"))
    order = factories.order(shop, customer_name="Ann")
    page = text_of(browser.get("/merchant/"))
    assert "Your first order</h2>" in page
    assert f'class="button primary" href="/merchant/orders/{order.pk}/"' in page
    assert len(figures(browser)) == 5
    factories.order(shop)
    assert "Your first order" not in text_of(browser.get("/merchant/"))


@pytest.mark.long
def test_overview_shows_a_new_store_its_first_steps(browser, shop):
    shop.created_at, shop.address = timezone.now(), ""
    shop.save()

    def undone():
        page = text_of(browser.get("/merchant/"))
        return [title for title in STEPS if f'{title}</p> <div class="about">' in page]

    assert undone() == STEPS
    factories.product(shop)
    factories.order(shop)
    assert "Look at your store" in undone(), "An order by somebody else is no look."
    assert browser.get("/merchant/store/view/").url == f"http://stores.test/store/{shop.slug}/"
    browser.get("/merchant/store/view/")
    assert undone() == ["Describe your store", "Add a logo or a picture", "Install an app"]
    assert '<details class="card first-steps" open>' in text_of(browser.get("/merchant/"))
    Business.objects.update(address="1 Quay Street")
    assert '<details class="card first-steps"> <summary><h2>First steps</h2>' in text_of(
        browser.get("/merchant/")
    )
    Business.objects.update(created_at=timezone.now() - timedelta(days=31))
    assert "First steps" not in text_of(browser.get("/merchant/"))


STEPS = [
    "Describe your store", "Add a logo or a picture", "Add a product", "Look at your store", "Install an app"
]  # fmt: skip


def test_overview_lists_what_needs_attention_and_the_newest_orders(browser, shop):
    factories.product(shop, stock=0)
    for number in range(7):
        factories.order(shop, customer_name=f"Kim {number}", status="PENDING" if number < 2 else "READY")
    page = text_of(browser.get("/merchant/"))
    assert "2 orders to confirm" in page
    assert "1 product is low or sold out" in page
    assert "Kim 6" in page
    assert "Kim 0" not in page, "Six are enough here."


# --- Pictures in a text --------------------------------------------------------------------------------


PICTURE = f"{LIST}picture/"


def test_picture_of_a_text_is_kept_and_served_to_shoppers(browser, shop):
    answer = browser.post(PICTURE, {"picture": upload()})
    path = answer.json()["url"]
    assert path == f"/media/stores/{StorePicture.objects.get(business=shop).pk}"
    for host in ("testserver", "stores.test"):
        assert Client(headers={"host": host}).get(path)["Content-Type"] == "image/png"


@pytest.mark.long
def test_picture_that_is_refused_says_why(browser, shop, monkeypatch):
    for sent in ({"picture": upload(b"no picture")}, {}):
        answer = browser.post(PICTURE, sent)
        assert (answer.status_code, bool(answer.json()["message"])) == (400, True)
    monkeypatch.setattr(pictures, "MOST_OF_STORE", 1)
    assert browser.post(PICTURE, {"picture": upload()}).status_code == 200
    answer = browser.post(PICTURE, {"picture": upload()})
    assert (answer.status_code, answer.json()["message"]) == (
        400,
        "A store has at most 1 pictures on its pages.",
    )
    assert StorePicture.objects.count() == 1


def test_sample_pages_are_markdown_whose_html_is_as_before(sandbox):
    fill_store(business=sandbox)
    about = SitePage.objects.get(business=sandbox, slug="about")
    assert about.source.startswith("## Flour, water, salt and time\n\nWe light")
    assert about.content.startswith("<h2>Flour, water, salt and time</h2>\n<p>We light the oven at three")
    assert "<blockquote>" in about.content
    delivery = SitePage.objects.get(business=sandbox, slug="delivery")
    assert delivery.content.count("<li>") == 3
