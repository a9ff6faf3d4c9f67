"""What an app adds to a store, in a merchant's words: in the marketplace, at the consent, before an uninstall."""

import html
import re

import pytest
from django.test import Client

from accounts.models import Business, User
from extensions.in_store.capabilities import Capability, offered_capabilities
from extensions.models import Definition, Placement
from extensions.services.manifests import save_manifest
from marketplace.models import App
from marketplace.scopes import SCOPES
from stores.models import SitePage
from tests import factories
from tests.extensions.manifests import Document, admin_page, block, full, hook, script, widget
from tests.installations.oauth_client import address, browser
from tests.merchants.pages import page_of
from tests.pages import signed_in, text_of


def save(app: App, document: Document) -> None:
    save_manifest(app=app, developer=app.developer, document=document)


def adds(app: App) -> list[Capability]:
    return offered_capabilities(app)


@pytest.mark.spec("Contract 2 Reach", "Sensitive capabilities are named first and marked")
def test_each_kind_has_its_sentence(app: App) -> None:
    save(
        app,
        {
            "blocks": [block(description="In stars.")],
            "embeds": [widget(position="bottom_left"), script()],
            "hooks": [hook(), hook(hookPoint="checkout.shipping_rates"), hook(hookPoint="order.validate")],
            "adminPages": [admin_page()],
        },
    )
    assert [(each.title, each.is_sensitive) for each in adds(app)] == [
        ("Sets the delivery price", True),
        ("Takes discounts off orders", True),
        ("Visit counter", True),
        ("Can refuse orders", False),
        ("Chat", False),
        ("Star rating", False),
        ("Stars", False),
    ]
    details = {each.title: each.detail for each in adds(app)}
    assert "stars.example.com/count.js" in details["Visit counter"]
    assert "read what customers type, at checkout too" in details["Visit counter"]
    assert "at the bottom left" in details["Chat"]
    assert details["Star rating"].startswith("In stars. A block that you can put on your pages")


def test_both_payment_hooks_are_one_thing(app: App) -> None:
    points = ("checkout.payment_methods", "checkout.create_payment")
    save(app, {"hooks": [hook(hookPoint=point) for point in points]})
    (payments,) = adds(app)
    assert payments.title == "Offers ways to pay"
    assert len(payments.definitions) == 2


def test_what_left_the_manifest_is_not_named(app: App) -> None:
    save(app, full())
    save(app, {})
    assert adds(app) == []


@pytest.mark.spec("Contract 7 Pages", "The listing shows what the app's extensions add")
def test_marketplace_page_says_what_is_added(client: Client, app: App) -> None:
    factories.approve(app)
    assert "What it adds" not in text_of(client.get(f"/marketplace/{app.slug}/"))
    save(app, {"blocks": [block(name="<b>Stars</b>")]})
    factories.approve(app)
    page = client.get(f"/marketplace/{app.slug}/")
    assert "What it adds to your store" in text_of(page)
    assert "&lt;b&gt;Stars&lt;/b&gt;" in page.content.decode()


@pytest.mark.spec("Contract 7 Pages", "The consent says what the app will add to the store")
def test_consent_says_what_is_added(app: App, mira: User, shop: Business) -> None:
    save(app, {"embeds": [widget()], "hooks": [hook()]})
    factories.approve(app)
    said = text_of(browser(mira).get(address(app)))
    assert "Will add to your store" in said
    assert "You can turn it off." in said
    assert "Takes discounts off orders" in said
    assert "card numbers" not in said, "a script or a payment form of an app may read them"


@pytest.mark.spec(
    "Contract 7 Pages", "The consent names each permission, what it notifies of, and which are sensitive"
)
def test_consent_names_permissions_by_what_they_allow(app: App, mira: User) -> None:
    factories.approve(app)
    said = html.unescape(text_of(browser(mira).get(address(app))))
    groups = dict(re.findall(r'class="permissions"> <h2><svg.*?</svg>([\w ]+)</h2>(.*?)</section>', said))
    titles = {
        name: re.findall(r'class="title">([^<]*?)(?: <|</span)', lines) for name, lines in groups.items()
    }
    marked = re.findall(r'class="title">([^<]+?) <span[^>]*><svg.*?</svg>Sensitive', "".join(groups.values()))
    scopes = SCOPES.values()
    assert {name: sorted(lines) for name, lines in titles.items()} == {
        "Can see": sorted(each.title for each in scopes if not each.writes),
        "Can change": sorted(each.title for each in scopes if each.writes),
        "Gets notified of": sorted(each.updates for each in scopes if each.updates),
    }
    assert sorted(marked) == sorted(each.title for each in scopes if each.sensitive)


def test_uninstall_page_names_what_goes(app: App, mira: User, shop: Business) -> None:
    save(app, {"blocks": [block()], "embeds": [widget()], "hooks": [hook()]})
    factories.approve(app)
    installation = factories.installation(app, shop, is_test=False)
    stars = Definition.objects.get(app=app, key="stars")
    for number in range(2):
        page = SitePage.objects.create(business=shop, slug=f"page-{number}", title="Page")
        Placement.objects.create(installation=installation, definition=stars, page=page, position=0)
    said = text_of(signed_in(mira).get(page_of(installation, "uninstall/")))
    assert "Star rating" in said
    assert "Chat, on every page" in said
    assert "Takes discounts off orders, at checkout" in said
    assert "2 blocks on 2 pages are removed, with their settings" in said
