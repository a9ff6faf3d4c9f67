"""Putting a block on a page from the app's side: whose block, whose page."""

import re
from html import unescape
from typing import Any

import pytest

from accounts.models import Business, User
from extensions.enums import ExtensionType
from extensions.models import Placement
from stores.services.pages import create_page
from tests import factories
from tests.extensions.cast import define
from tests.extensions.settings import give_settings
from tests.forms import form_at, send
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of


@pytest.mark.long
@pytest.mark.spec("Contract 6 Extensions", "Host pages: blocks are placed on the merchant's own site pages")
def test_only_own_blocks_go_on_own_pages(dana: User, mira: User, shop: Business, sandbox: Business) -> None:
    stars, other = listed_app(dana, ["read_orders"]), listed_app(dana, ["read_orders"])
    block, foreign = (define(app, ExtensionType.BLOCK, "wall") for app in (stars, other))
    installation, _ = installed(stars, shop), installed(other, shop)
    own, elsewhere = create_page(business=shop, title="Ours"), create_page(business=sandbox, title="Theirs")
    browser, address = signed_in(mira), page_of(installation, "blocks/")

    def press(choice: object, page: object) -> int:
        return int(browser.post(address, {"choice": str(choice), "page": str(page)}).status_code)

    assert press(foreign.pk, own.pk) == 404
    assert press(block.pk, elsewhere.pk) == 404
    assert press("nonsense", own.pk) == 404
    assert press(block.pk, "nonsense") == 404
    assert signed_in(dana).post(address, {"choice": str(block.pk), "page": str(own.pk)}).status_code == 404
    assert not Placement.objects.exists()
    assert press(block.pk, own.pk) == 302
    assert Placement.objects.get().page == own


def test_block_is_previewed_before_it_is_added(dana: User, mira: User, shop: Business) -> None:
    app, page = listed_app(dana, ["read_orders"]), create_page(business=shop, title="About")
    key = define(app, ExtensionType.BLOCK, "wall").pk
    installed(app, shop)
    shown = signed_in(mira).get(f"/merchant/pages/{page.pk}/edit/?try={key}")
    assert f'data-block="{key}"' in unescape(shown.content.decode())
    assert "Only a preview" in shown.content.decode()
    assert not Placement.objects.exists()
    assert signed_in(mira).get(f"/merchant/pages/{page.pk}/edit/?try={page.pk}").status_code == 404


@pytest.mark.long
def test_new_store_gets_its_page_with_the_block(dana: User, mira: User, shop: Business) -> None:
    """One press from the app's page, and another one publishes it."""
    app = listed_app(dana, ["read_orders"])
    block = define(app, ExtensionType.BLOCK, "wall", name="Wall")
    installation = installed(app, shop)
    browser, address = signed_in(mira), page_of(installation, "blocks/")
    assert '<option value="new">A new page</option>' in text_of(browser.get(page_of(installation, "embeds/")))
    page = text_of(browser.post(address, {"choice": str(block.pk), "page": "new"}, follow=True))
    placed = Placement.objects.get()
    assert (placed.page.title, placed.page.is_published, placed.page.business) == ("Wall", False, shop)
    assert "Page Wall added." in page
    assert "</svg>Not published</span>" in page
    form = form_at(
        browser,
        f"/merchant/pages/{placed.page_id}/edit/?block={placed.pk}",
        f"/merchant/pages/{placed.page_id}/blocks/{placed.pk}/",
    )
    assert ("publish", "1") not in form.fields
    published = text_of(send(browser, form, follow=True, publish=1))
    assert "Saved and published. Shoppers see the page now." in published
    assert ">Publish</button>" not in published


@pytest.mark.parametrize("title", ["Hours", ""])
def test_publish_saves_the_text_that_is_open_or_says_what_is_wrong(
    mira: User, shop: Business, title: str
) -> None:
    page, browser = create_page(business=shop, title="About", is_published=False), signed_in(mira)
    here = f"/merchant/pages/{page.pk}/edit/"
    sent = send(browser, form_at(browser, here), title=title, publish=1)
    page.refresh_from_db()
    assert (sent.status_code, page.title, page.is_published) == (
        (302, "Hours", True) if title else (422, "About", False)
    )


@pytest.mark.long
def test_last_change_of_blocks_is_undone(dana: User, mira: User, shop: Business) -> None:
    app = listed_app(dana, ["read_orders"])
    schema = {"type": "object", "properties": {"title": {"type": "string", "default": "Stars"}}}
    block = define(app, ExtensionType.BLOCK, "wall", settingsSchema=schema)
    installed(app, shop)
    page, browser = create_page(business=shop, title="Ours"), signed_in(mira)
    here = f"/merchant/pages/{page.pk}/"

    def blocks() -> list[Any]:
        return list(Placement.objects.filter(page=page).values_list("settings", flat=True))

    def undo() -> list[Any]:
        assert "Undo last change</button>" in text_of(browser.get(f"{here}edit/"))
        assert "The last change is undone." in text_of(browser.post(f"{here}undo/", follow=True))
        assert "Undo last change" not in text_of(browser.get(f"{here}edit/"))
        return blocks()

    for _ in range(2):
        browser.post(f"{here}blocks/", {"choice": str(block.pk)})
    first, second = Placement.objects.filter(page=page)
    browser.post(f"{here}blocks/{first.pk}/", {"settings-title": "One"})
    assert blocks() == [{"title": "One"}, {}]
    assert undo() == [{}, {}]
    browser.post(f"{here}blocks/{second.pk}/", {"settings-title": "Two"})
    browser.post(f"{here}blocks/{second.pk}/move/", {"by": "-1"})
    assert blocks() == [{"title": "Two"}, {}]
    assert undo() == [{}, {"title": "Two"}]
    browser.post(f"{here}blocks/{first.pk}/remove/")
    assert blocks() == [{"title": "Two"}]
    assert undo() == [{}, {"title": "Two"}]
    browser.post(f"{here}blocks/", {"choice": str(block.pk)})
    assert undo() == [{}, {"title": "Two"}]
    assert "can’t be undone any more" in text_of(browser.post(f"{here}undo/", follow=True))
    stranger = signed_in(factories.merchant("tom@example.com"))
    factories.business(User.objects.get(email="tom@example.com"))
    assert stranger.post(f"{here}undo/").status_code == 404


def test_welcome_publishes_a_page_with_the_apps_block_in_one_press(
    dana: User, mira: User, shop: Business
) -> None:
    """In a store without a page. The app's own link leads here after the install."""
    app = listed_app(dana, ["read_orders"], name="Stars")
    define(app, ExtensionType.BLOCK, "wall", name="Wall")
    installation = installed(app, shop)
    browser, welcome = signed_in(mira), page_of(installation, "welcome/")
    shown = text_of(browser.get(welcome))
    assert "Welcome to <bdi>Stars</bdi>" in shown
    assert shown.count('class="button primary"') == 1
    form = form_at(browser, welcome, page_of(installation, "blocks/"))
    editor = text_of(send(browser, form, follow=True, publish=1))
    placed = Placement.objects.get()
    assert (placed.page.title, placed.page.is_published) == ("Wall", True)
    assert "Shoppers see it now." in editor


def test_welcome_offers_the_pages_of_a_store_that_has_some(dana: User, mira: User, shop: Business) -> None:
    app, page = listed_app(dana, ["read_orders"]), create_page(business=shop, title="About")
    define(app, ExtensionType.BLOCK, "wall", name="Wall")
    installation = installed(app, shop)
    browser, welcome = signed_in(mira), page_of(installation, "welcome/")
    assert send(browser, form_at(browser, welcome, page_of(installation, "blocks/"))).status_code == 302
    assert Placement.objects.get().page == page


@pytest.mark.parametrize(
    ("has_settings", "has_page", "primary"),
    [(True, True, "Open settings"), (False, True, "Open <bdi>Summary</bdi>"), (False, False, "View app")],
)
def test_welcome_of_an_app_without_a_block_has_one_thing_to_do(
    dana: User, mira: User, shop: Business, has_settings: bool, has_page: bool, primary: str
) -> None:
    app = listed_app(dana, ["read_orders"])
    if has_page:
        define(app, ExtensionType.ADMIN_PAGE, "summary", title="Summary")
    if has_settings:
        give_settings(app)
    shown = text_of(signed_in(mira).get(page_of(installed(app, shop), "welcome/")))
    [words] = re.findall(r'class="button primary"[^>]*>(.*?)</a>', shown)
    assert words == primary
