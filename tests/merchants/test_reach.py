"""A new version brings scripts, widgets and hooks: the merchant is asked, and nothing of it runs before a yes."""

from collections.abc import Callable
from string import Formatter
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from extensions.hooks.live import hooks_at
from extensions.in_store.capabilities import SENTENCES
from extensions.services.manifests import Saved, save_manifest
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import releases, reviews
from stores.hookpoints import HookPoint
from tests import factories
from tests.extensions.manifests import Document, admin_page, block, hook, script, widget
from tests.installations.oauth_client import address
from tests.installations.oauth_client import browser as consenting
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.storefront.shopping import STORES_HOST

REACH = "Contract 2 Reach"
POINTS = ("order.calculate_discounts", "order.validate", "checkout.shipping_rates")
ADDED = ("Visit counter", "Takes discounts off orders", "Can refuse orders", "Sets the delivery price")


@pytest.fixture
def stars(dana: User) -> App:
    """Approved with an empty manifest."""
    return listed_app(
        dana, ["read_pages"], name="Loyalty Stars", webhook_url="https://stars.example.com/hooks"
    )


@pytest.fixture
def asking(stars: App, shop: Business) -> Installation:
    """Installed before its next version was approved, with a script and three hooks."""
    installation = installed(stars, shop)
    document = {"embeds": [script()], "hooks": [hook(hookPoint=point) for point in POINTS]}
    save_manifest(app=stars, developer=stars.developer, document=document)
    reviews.approve(submission=factories.submit(stars), reviewer=factories.reviewer())
    follow_all()
    return installation


def runs(shop: Business) -> set[str]:
    """What runs: the script as shoppers meet it, and the hooks as a checkout asks them."""
    store = Client(SERVER_NAME=STORES_HOST, headers={"accept": "text/html"}).get(f"/store/{shop.slug}/")
    found = {point.value for point in HookPoint if hooks_at(shop, point)}
    return found | ({"script"} if "count.js" in store.text else set())


def answer(browser: Client, installation: Installation, word: str, version: int = 2) -> Any:
    return browser.post(page_of(installation, "permissions/"), {"answer": word, "version": str(version)})


@pytest.mark.long
@pytest.mark.spec(
    REACH, "The merchant is asked for exactly what a version adds; needsReConsent is for scopes"
)
def test_question_names_exactly_what_is_new(browser: Client, asking: Installation, shop: Business) -> None:
    for path in ("/merchant/apps/", page_of(asking), page_of(asking, "permissions/")):
        page = text_of(browser.get(path))
        assert all(f'<summary dir="auto">{title}' in page for title in ADDED)
        assert page.count("</svg>New</span>") == len(ADDED)
        assert ">Approve</button>" in page
    assert "Needs approval" in text_of(browser.get("/merchant/apps/"))
    assert "asks for more permissions" in text_of(browser.get("/merchant/"))
    token = Client(headers={"authorization": f"Bearer {asking.raw_token}"})  # type: ignore[attr-defined]
    assert token.get("/app-api/installation").json()["needsReConsent"] is False
    assert runs(shop) == set()


@pytest.mark.long
@pytest.mark.spec(REACH, "Not now keeps the store as it is; Approve lets the new parts run")
def test_no_and_yes(browser: Client, asking: Installation, shop: Business, stars: App) -> None:
    answer(browser, asking, "decline")
    assert runs(shop) == set()
    versions = signed_in(stars.developer).get(f"/portal/apps/{stars.slug}/versions/")
    assert "1 of 1 installation hasn’t approved the new scripts" in text_of(versions)
    assert "asks for more permissions" not in text_of(browser.get("/merchant/")), "the banner rests"
    assert "Review the request" in text_of(browser.get(page_of(asking)))

    answer(browser, asking, "approve")
    assert runs(shop) == {"script", *POINTS}
    assert "Needs approval" not in text_of(browser.get("/merchant/apps/"))


@pytest.mark.long
def test_a_yes_to_an_older_version_is_not_taken(
    browser: Client, asking: Installation, shop: Business
) -> None:
    answer(browser, asking, "approve", version=1)
    assert runs(shop) == set()


@pytest.mark.long
def test_permission_that_comes_with_new_reach_is_asked_for_at_once(
    browser: Client, stars: App, shop: Business
) -> None:
    """Both are asked for once the store has followed the approval: to approve one alone would leave the permission out for good."""
    installation = installed(stars, shop)
    save(stars, {"embeds": [script()]})
    App.objects.update(scopes=["read_pages", "read_orders"])
    stars.refresh_from_db()
    reviews.approve(submission=factories.submit(stars), reviewer=factories.reviewer())
    assert browser.get(page_of(installation, "permissions/")).status_code == 302
    follow_all()
    page = text_of(browser.get(page_of(installation, "permissions/")))
    assert all(title in page for title in ("Visit counter", "See your orders"))
    answer(browser, installation, "approve")
    follow_all()
    installation.refresh_from_db()
    assert installation.granted_scopes == ["read_orders", "read_pages"]
    assert installation.left_out_scopes == []


@pytest.mark.long
def test_each_store_is_asked_for_what_is_new_to_it(
    browser: Client, asking: Installation, stars: App, mira: User
) -> None:
    later = installed(App.objects.get(pk=stars.pk), factories.business(mira))
    save(stars, {"embeds": [script(), widget()], "hooks": [hook(hookPoint=point) for point in POINTS]})
    approve(stars)
    asked = {each: text_of(browser.get(page_of(each, "permissions/"))) for each in (asking, later)}
    assert all(f'<summary dir="auto">{title}' in asked[asking] for title in ADDED)
    assert not any(f'<summary dir="auto">{title}' in asked[later] for title in ADDED)
    assert all("A widget from stars.example.com" in page for page in asked.values())


@pytest.mark.long
@pytest.mark.spec(REACH, "No merchant is asked for what no reviewer has seen")
def test_question_shows_what_a_reviewer_has_seen(browser: Client, asking: Installation, stars: App) -> None:
    save(stars, {"embeds": [script(scriptUrl="https://unseen.example.com/count.js")]})
    page = text_of(browser.get(page_of(asking, "permissions/")))
    assert "stars.example.com" in page
    assert "unseen.example.com" not in page


@pytest.mark.long
@pytest.mark.parametrize("also", [[], ["read_orders"]], ids=["reach", "reach and a permission"])
def test_a_later_version_asks_again_after_a_no(
    also: list[str], browser: Client, asking: Installation, stars: App
) -> None:
    """Also if it asks for no further permission, so that the no to the earlier one still rests."""
    App.objects.update(scopes=stars.scopes + also)
    stars.refresh_from_db()
    approve(stars)
    answer(browser, asking, "decline", version=3)
    assert "asks for more permissions" not in text_of(browser.get("/merchant/"))
    approve(stars)
    assert "asks for more permissions" in text_of(browser.get("/merchant/"))
    assert ">Approve</button>" in text_of(browser.get("/merchant/apps/"))


@pytest.mark.long
@pytest.mark.parametrize("halted", [False, True], ids=["rolling", "halted"])
def test_a_no_to_the_version_of_a_release_rests(
    halted: bool, browser: Client, stars: App, shop: Business
) -> None:
    """The version that the store runs counts, not the one that is listed."""
    asking = installed(stars, shop)
    save(stars, {"embeds": [script()]})
    reviews.approve(submission=factories.submit(stars, release="STEPS"), reviewer=factories.reviewer())
    follow_all()
    if halted:
        releases.halt(app=stars)
    assert "asks for more permissions" in text_of(browser.get("/merchant/"))
    answer(browser, asking, "decline")
    assert "asks for more permissions" not in text_of(browser.get("/merchant/"))


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Extensions",
    "integrity of a script is on its tag; another one waits for a review and the merchant's yes",
)
def test_integrity_is_on_the_tag(stars: App, shop: Business, browser: Client, client: Client) -> None:
    def tag(letter: str) -> str:
        return f'count.js" integrity="{pin(letter)}" crossorigin="anonymous" data-app='

    def store() -> str:
        visitor = Client(SERVER_NAME=STORES_HOST, headers={"accept": "text/html"})
        return " ".join(visitor.get(f"/store/{shop.slug}/").text.split())

    save(stars, {"embeds": [script(integrity=pin("A"))]})
    approve(stars)
    installation = installed(App.objects.get(pk=stars.pk), shop)
    assert tag("A") in store()
    listing = text_of(client.get(f"/marketplace/{stars.slug}/"))
    assert "Browsers run it only with the content that its developer pinned (sha256-AAAA" in listing

    save(stars, {"embeds": [script(integrity=pin("B"))]})
    assert tag("A") in store()
    approve(stars)
    assert tag("A") in store()
    assert "pinned (sha256-BBBB" in text_of(browser.get(page_of(installation, "permissions/")))
    answer(browser, installation, "approve", version=current(stars))
    assert tag("B") in store()


def pin(letter: str) -> str:
    return f"sha256-{letter * 43}="


# A definition for each sentence, and how to change each fact that the sentence may name.
SHOWN: dict[str, tuple[str, Document]] = {
    "block": ("blocks", block()),
    "script": ("embeds", script()),
    "pin": ("embeds", script(integrity=pin("A"))),
    "widget": ("embeds", widget()),
    "page": ("adminPages", admin_page()),
}
CHANGED: dict[str, Callable[[Document], Document]] = {
    "host": lambda shown: shown | {"renderUrl": "https://elsewhere.example.com/"},
    "script": lambda shown: shown | {"scriptUrl": "https://stars.example.com/other.js"},
    "pin": lambda shown: shown | {"integrity": pin("B")},
    "corner": lambda shown: shown | {"position": "bottom_left"},
}
NAMED = [(name, fact) for name, text in SENTENCES.items() for _, fact, *_ in Formatter().parse(text) if fact]


@pytest.mark.long
@pytest.mark.spec(REACH, "Whatever a sentence of the consent page names is part of the reach")
@pytest.mark.parametrize(("name", "fact"), NAMED)
def test_each_fact_of_a_sentence_is_asked_for(
    name: str, fact: str, browser: Client, stars: App, shop: Business
) -> None:
    listed, shown = SHOWN[name]
    save(stars, {listed: [shown]})
    approve(stars)
    installation = installed(App.objects.get(pk=stars.pk), shop)
    change_is_asked_for(stars, installation, browser, {listed: [CHANGED[fact](shown)]})


@pytest.mark.long
@pytest.mark.spec(REACH, "Each hook point that the consent page describes is part of the reach")
@pytest.mark.parametrize("point", HookPoint)
def test_each_hook_point_is_asked_for(point: HookPoint, browser: Client, stars: App, shop: Business) -> None:
    installation = installed(stars, shop)
    change_is_asked_for(stars, installation, browser, {"hooks": [hook(hookPoint=point.value)]})


def change_is_asked_for(app: App, installation: Installation, browser: Client, document: Document) -> None:
    """It waits for the next version, and then for the merchant, who reads about it."""
    saved = save(app, document)
    assert (len(saved.reach["live"]), len(saved.reach["withNextVersion"])) == (0, 1)
    assert "asks for more permissions" not in text_of(browser.get("/merchant/"))
    approve(app)
    assert "asks for more permissions" in text_of(browser.get("/merchant/"))
    answer(browser, installation, "approve", version=current(app))
    assert "asks for more permissions" not in text_of(browser.get("/merchant/"))


def current(app: App) -> int:
    version = App.objects.get(pk=app.pk).approved_version
    assert version
    return version.number


def save(app: App, document: Document) -> Saved:
    return save_manifest(app=app, developer=app.developer, document=document)


def approve(app: App) -> None:
    reviews.approve(submission=factories.submit(app), reviewer=factories.reviewer())
    follow_all()


@pytest.mark.long
@pytest.mark.spec(REACH, "Install on the consent page is a yes")
def test_authorizing_again_is_a_yes(asking: Installation, stars: App, mira: User, shop: Business) -> None:
    person = consenting(mira)
    page = person.get(address(stars))
    said = text_of(page)
    assert "asks for more permissions" in said
    assert all(title in said for title in ADDED)
    person.post(address(stars), {"answer": "install", "scopes": "read_pages"})
    assert runs(shop) == {"script", *POINTS}
