"""What the consent page says: what an app asks for, what an install changes in the store, and what it ends."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Business, User
from extensions.services.manifests import save_manifest
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import reviews
from tests import factories
from tests.extensions.manifests import block, hook, script
from tests.installations.oauth_client import address
from tests.merchants.pages import ask_for_more, installed, listed_app
from tests.pages import main_words_of, signed_in

SPEC = pytest.mark.spec("Contract 7 Pages", "The consent page names what an install changes")
POINTS = "checkout.payment_methods", "checkout.create_payment", "order.validate"
ALREADY, LOST = "Permissions it already has", "Permissions it will lose"
PRODUCTS, CUSTOMERS, REVIEWS, PAGES = (
    "Your products", "Your orders and customers", "Your product reviews", "Your store's pages",
)  # fmt: skip


@pytest.fixture
def app(dana: User) -> App:
    return listed_app(
        dana, ["read_products", "read_pages"], name="Order Bell", webhook_url="https://bell.example.com/"
    )


def words(person: User, app: App, **parameters: str) -> str:
    response = signed_in(person).get(address(App.objects.get(pk=app.pk), **parameters))
    assert response.status_code == 200
    return main_words_of(response).replace("’", "'")


def in_order(text: str, *parts: str) -> bool:
    """Whether it has these parts, one after another."""
    for part in parts:
        _, found, text = text.partition(part)
        if not found:
            return False
    return True


@SPEC
def test_first_install_names_all_that_is_asked_for_the_sensitive_first(
    app: App, shop: Business, mira: User
) -> None:
    app.scopes = ["read_products", "read_orders", "write_orders"]
    app.save()
    factories.approve(app, scope_reason="Only asked of those who have it.")
    said = words(mira, app)
    assert "Order Bell wants to connect to Mira's shop" in said
    assert in_order(said, "Can see", CUSTOMERS, PRODUCTS, "Can change", "Your orders", "Gets notified of")
    assert ALREADY not in said
    assert LOST not in said
    assert "already installed" not in said
    assert "The developer's reason Only asked" not in said


@SPEC
def test_what_is_new_comes_first_then_what_is_lost_and_what_stays(
    app: App, shop: Business, mira: User
) -> None:
    """With the reason and the version since which it is asked for."""
    asked = ["read_products", "read_orders", "read_reviews", "read_pages"]
    ask_for_more(installed(app, shop), asked, "We show stars.")
    said = words(mira, app, scope="read_products read_reviews")
    assert "Order Bell asks for more permissions on Mira's shop" in said
    new, _, lost = said.partition(LOST)
    lost, _, kept = lost.partition(ALREADY)
    assert [part in new for part in (PRODUCTS, REVIEWS, PAGES)] == [False, True, False]
    assert in_order(new, REVIEWS, "The developer's reason We show stars.")
    assert [part in lost for part in (PRODUCTS, REVIEWS, PAGES)] == [False, False, True]
    assert PRODUCTS in kept
    assert PAGES not in kept
    version = App.objects.get(pk=app.pk).approved_version
    assert version
    assert f"{REVIEWS}: asked for since version {version.version}." in kept
    assert kept.count(REVIEWS) == 1
    assert CUSTOMERS not in said


@SPEC
def test_less_is_named_before_it_is_taken(app: App, shop: Business, mira: User) -> None:
    installed(app, shop)
    said = words(mira, app, scope="read_products")
    assert "Order Bell is already installed on Mira's shop" in said
    assert "Install removes the permissions that it no longer asks for" in said
    assert in_order(said, LOST, PAGES, ALREADY, PRODUCTS)


@SPEC
def test_installed_app_that_asks_for_nothing_is_reconnected(
    app: App, shop: Business, mira: User, dana: User
) -> None:
    installed(app, shop)
    installed(listed_app(dana, ["read_reviews"], name="Other"), shop)
    said = words(mira, app)
    assert "Order Bell is already installed on Mira's shop" in said
    assert "It has everything it asks for." in said
    assert LOST not in said
    assert in_order(said, ALREADY, PRODUCTS, PAGES)
    assert REVIEWS not in said


@pytest.mark.long
@SPEC
def test_parts_that_the_store_has_agreed_to_are_not_new(dana: User, shop: Business, mira: User) -> None:
    app = listed_app(dana, ["read_products"], name="Order Bell")
    save_manifest(app=app, developer=dana, document={"blocks": [block()]})
    reviews.approve(submission=factories.submit(app), reviewer=factories.reviewer())
    assert "Star rating" in words(mira, app)
    installed(App.objects.get(pk=app.pk), shop)
    save_manifest(app=app, developer=dana, document={"blocks": [block()], "embeds": [script()]})
    reviews.approve(submission=factories.submit(app), reviewer=factories.reviewer())
    follow_all()
    said = words(mira, app)
    assert "asks for more permissions" in said
    assert "Visit counter" in said
    assert "Star rating" not in said


@pytest.mark.long
@SPEC
def test_of_several_stores_those_that_have_the_app_are_named(
    app: App, shop: Business, mira: User, dana: User
) -> None:
    second = factories.business(mira, name="Second shop")
    other = listed_app(dana, ["read_products"], name="Other")
    installed(app, second)
    installed(other, shop)
    said = words(mira, app)
    assert "Order Bell wants to connect to your store" in said
    assert "Already installed on Second shop" in said
    assert "Already installed on Mira's shop" not in said
    assert ALREADY not in said
    assert "is already installed on Second shop" in words(mira, app, business_id=str(second.pk))
    assert "wants to connect to Mira's shop" in words(mira, app, business_id=str(shop.pk))


@SPEC
@pytest.mark.parametrize("why", ["", "long ago", "no URL", "another app", "another store", "back again"])
def test_erasure_that_the_install_would_cancel_is_named(
    app: App, shop: Business, mira: User, dana: User, why: str
) -> None:
    """Only that one is."""
    ended = factories.installation(
        listed_app(dana, ["read_products"], name="Other", webhook_url=app.webhook_url)
        if why == "another app"
        else app,
        factories.business(dana) if why == "another store" else shop,
        is_test=False,
        uninstalled_at=timezone.now() - timedelta(hours=49 if why == "long ago" else 47),
    )
    factories.business(mira, name="Second shop")
    if why == "back again":
        installed(app, shop)
    if why == "no URL":
        App.objects.filter(pk=app.pk).update(webhook_url="")
        app.versions.update(webhook_url="")
    said = words(mira, app)
    assert (f"This app was uninstalled from {ended.business.name} on" in said) == (why == "")


@SPEC
def test_latest_uninstall_of_a_store_is_the_one_that_is_named(app: App, shop: Business, mira: User) -> None:
    now = timezone.now()
    for hours in (1, 40):
        at = now - timedelta(hours=hours)
        factories.installation(app, shop, is_test=False, uninstalled_at=at)
    (ended,) = signed_in(mira).get(address(app)).context["page"].erasures
    assert ended == Installation.objects.order_by("-uninstalled_at").first()


@SPEC
def test_developer_installs_the_working_copy_without_figures_of_stores(
    app: App, shop: Business, sandbox: Business, dana: User
) -> None:
    factories.approve(app, scope_reason="A reason.")
    app.scopes = ["read_products", "read_orders"]
    app.save()
    installed(app, sandbox)
    Installation.objects.update(granted_scopes=[])
    page = signed_in(dana).get(address(app)).context["page"]
    assert (page.version, page.reason, page.use, page.asked_since) == ("", "", None, [])
    assert words(dana, app).count("Sandbox: test install") == 1


def test_what_is_sensitive_is_said_first_in_three_lines_at_most(app: App, shop: Business, mira: User) -> None:
    """Then everything, one line each, whose details open without a script."""
    save_manifest(
        app=app,
        developer=app.developer,
        document={
            "hooks": [hook(hookPoint=point) for point in POINTS],
            "embeds": [script(name="Announcement")],
        },
    )
    app.scopes = ["read_products", "read_orders", "write_orders"]
    app.save()
    factories.approve(app)
    page = signed_in(mira).get(address(App.objects.get(pk=app.pk))).text
    lines = re.findall(r"<li>([^<]+)</li>", page.partition('class="in-short"')[2].partition("</ul>")[0])
    assert lines == [
        "Offers ways to pay.",
        "Runs a script on every page.",
        "Reads customers’ contact details. Changes orders and payments.",
    ]
    before, _, after = page.partition('class="all-permissions"')
    assert "embed.js" not in before
    assert "<details open" not in after
    for each in ("Can refuse orders", "Announcement", "Your orders and customers", "Your products"):
        assert f'class="title">{each}' in after
