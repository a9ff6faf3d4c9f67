"""The public marketplace: what it shows, how it is found, and what it never shows."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business, User
from extensions.enums import CallOutcome
from extensions.models import Definition, HookCall
from extensions.services.manifests import save_manifest
from installations.services import lifecycle
from installations.services.sandbox import test_install as install_for_test
from marketplace.enums import AppStatus, Category
from marketplace.models import App
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from merchants.templatetags.marketplace import cut
from tests import factories
from tests.extensions.manifests import block, hook
from tests.pictures import picture, upload
from webhooks.models import DailyDeliveryCount

CONTRACT = "Contract 7 Pages"
STATUS = "Contract 2 Status of an app that changes"


def listed(developer: User, name: str = "Loyalty Stars", **fields: Any) -> App:
    """An approved app; its slug is its name's."""
    slug = re.sub(r"\W+", "-", name.lower())
    app = factories.app(developer, **({"name": name, "slug": slug} | fields))
    factories.approve(app)
    return app


def page(client: Client, query: str = "") -> str:
    response = client.get(f"/marketplace/{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def names(client: Client, query: str = "") -> list[str]:
    """The apps of the page, in its order."""
    return re.findall(r'<h2 dir="auto"><a href="[^"]*">([^<]*)</a>', page(client, query))


def counts(client: Client, query: str = "") -> dict[str, int]:
    """The number beside each category."""
    found = re.findall(
        r'<li><(?:a href="[^"]*"[^>]*|span class="none")>([^<]+) <span class="count">(\d+)',
        page(client, query),
    )
    return {name: int(number) for name, number in found}


def app_page(client: Client, app: App, *, status: int = 200) -> str:
    response = client.get(f"/marketplace/{app.slug}/")
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def install_link(html: str) -> str | None:
    found = re.search(r'<a class="button[^"]*" href="([^"]*)">(Install[^<]*)</a>', html)
    return found[1].replace("&amp;", "&") if found else None


def install(app: App, business: Business) -> Any:
    return lifecycle.install(
        app=app,
        business=business,
        installed_by=business.owner,
        terms=lifecycle.Terms(is_test=False, granted_scopes=app.scopes),
    ).installation


# What is listed


@pytest.mark.spec(CONTRACT, "The marketplace lists approved apps for everyone")
@pytest.mark.spec("States/App status", "DRAFT is visible only to its developer")
def test_approved_apps_are_listed_and_drafts_are_not(client: Client, dana: User) -> None:
    shown = listed(dana)
    draft = factories.app(dana, name="Draft app", slug="draft-app")
    in_review = factories.app(dana, name="In review", slug="in-review", status=AppStatus.PENDING_REVIEW)
    assert names(client) == ["Loyalty Stars"]
    assert "Loyalty Stars" in app_page(client, shown)
    for hidden in (draft, in_review):
        app_page(client, hidden, status=404)


@pytest.mark.parametrize("gone", ["suspended_at", "deleted_at"])
@pytest.mark.parametrize("who", ["nobody", "owner", "stranger", "merchant"])
@pytest.mark.spec(STATUS, "A suspended or deleted app is not listed; its page is a 404 for everybody")
def test_suspended_and_deleted_apps_are_invisible_to_everybody(
    client: Client, dana: User, sam: User, mira: User, gone: str, who: str
) -> None:
    app = listed(dana)
    listed(dana, "Another")
    App.objects.filter(pk=app.pk).update(**{gone: timezone.now()})
    if who != "nobody":
        client.force_login({"owner": dana, "stranger": sam, "merchant": mira}[who])
    assert names(client) == ["Another"]
    assert names(client, "?q=loyalty") == []
    assert counts(client)["All apps"] == 1
    assert "Loyalty Stars" not in app_page(client, app, status=404)
    assert "Loyalty Stars" not in client.get("/").content.decode()


def test_developer_sees_no_draft_of_her_own(client: Client, dana: User) -> None:
    draft = factories.app(dana, name="Draft app", slug="draft-app")
    client.force_login(dana)
    assert names(client) == []
    app_page(client, draft, status=404)


@pytest.mark.long
@pytest.mark.spec(
    STATUS, "The marketplace shows the approved version while an update is in work or in review"
)
@pytest.mark.parametrize("status", [AppStatus.DRAFT, AppStatus.PENDING_REVIEW])
def test_working_copy_never_shows(client: Client, dana: User, status: str) -> None:
    app = listed(
        dana, description="Stars for regulars.", category="loyalty", scopes=["read_orders"], version="1.0.0"
    )
    edited = update_app(
        app=app,
        changes={
            "name": "Secret plans",
            "description": "Unreviewed words.",
            "category": "pos",
            "scopes": ["read_orders", "read_pages"],
            "version": "2.0.0",
            "redirect_url": "https://unreviewed.example.com/callback",
        },
    )
    App.objects.filter(pk=edited.pk).update(status=status)
    for html in (page(client), app_page(client, app)):
        assert "Loyalty Stars" in html
        assert "Stars for regulars." in html
        for unreviewed in ("Secret plans", "Unreviewed words", "unreviewed.example.com", "2.0.0"):
            assert unreviewed not in html
    assert "See the pages of your store" not in app_page(client, app)
    assert (
        names(client, "?q=secret") == names(client, "?q=unreviewed") == names(client, "?category=pos") == []
    )
    assert names(client, "?q=stars") == names(client, "?category=loyalty") == ["Loyalty Stars"]
    assert counts(client)["Loyalty"] == 1


@pytest.mark.spec(STATUS, "The newest approved version is the one that is shown")
def test_newest_approved_version_is_shown(client: Client, dana: User) -> None:
    app = listed(dana, version="1.0.0")
    factories.approve(app, name="Loyalty Suns", version="1.1.0")
    html = app_page(client, app)
    assert "Loyalty Suns" in html
    assert "1.1.0" in html
    assert "1.0.0" not in html
    assert names(client) == ["Loyalty Suns"]


@pytest.mark.long
@pytest.mark.spec(STATUS, "Pictures are those of the approved version")
def test_pictures_are_the_approved_ones(client: Client, dana: User) -> None:
    app = factories.app(dana, slug="stars")
    shots = [decode(upload(picture(size=(64, 40)))), decode(upload(picture(size=(40, 64))))]
    app = update_app(app=app, changes={"icon": decode(upload()), "screenshots": shots})
    factories.approve(app)
    approved = [app.icon_id, *app.screenshot_ids]
    app = update_app(app=app, changes={"icon": decode(upload()), "screenshots": shots[:1]})
    html = app_page(client, app)
    for shown in approved:
        path = f"/media/pictures/{shown}"
        assert path in html
        assert client.get(path).status_code == 200
    for unreviewed in (app.icon_id, *app.screenshot_ids):
        assert str(unreviewed) not in html
    assert re.findall(r'alt="(Picture[^"]*)"', html) == [
        f"Picture {number} of 2 of {app.name}" for number in (1, 2)
    ]


# Finding apps


@pytest.mark.spec(CONTRACT, "The marketplace is searched by name, description and developer")
def test_search_looks_at_name_description_and_developer(client: Client, dana: User, sam: User) -> None:
    listed(dana, "Loyalty Stars", description="Points for regulars.")
    listed(sam, "Parcel Quotes", description="Says what delivery costs.")
    assert names(client, "?q=LOYAL") == ["Loyalty Stars"]
    assert names(client, "?q=delivery") == ["Parcel Quotes"]
    assert names(client, "?q=sam") == ["Parcel Quotes"]
    assert names(client, "?q=dana+regulars") == ["Loyalty Stars"]
    assert names(client, "?q=dana+delivery") == []


def test_search_puts_names_first_and_takes_signs_as_they_are(client: Client, dana: User) -> None:
    listed(dana, "A till", description="Not a bell.")
    listed(dana, "Order Bell", description="Rings.")
    listed(dana, "50% off_today", description="Sales.")
    assert names(client, "?q=bell") == ["Order Bell", "A till"]
    assert names(client, "?q=%25") == ["50% off_today"]
    assert names(client, "?q=f_t") == ["50% off_today"]
    assert names(client, "?q=%27%3B--") == []


@pytest.mark.spec(CONTRACT, "The marketplace filters by category and counts the apps of each")
def test_category_filters_and_counts(client: Client, dana: User) -> None:
    listed(dana, "Loyalty Stars", category="loyalty")
    listed(dana, "Loyalty Suns", category="loyalty")
    listed(dana, "Till Bridge", category="pos", description="For stars.")
    assert names(client, "?category=loyalty") == ["Loyalty Stars", "Loyalty Suns"]
    expected = dict.fromkeys(Category.labels, 0) | {"Loyalty": 2, "Point of sale": 1, "All apps": 3}
    assert counts(client) == counts(client, "?category=pos") == expected
    found = counts(client, "?q=stars&category=pos")
    assert (found["All apps"], found["Loyalty"], found["Point of sale"]) == (2, 1, 1)


def test_filters_stay_in_every_link(client: Client, dana: User) -> None:
    for number in range(3):
        listed(dana, f"Stars {number}", category="loyalty", scopes=["read_products"])
    html = page(client, "?q=stars&category=loyalty&without=customers&sort=name&limit=1&page=2")
    links = [
        href.replace("&amp;", "&") for href in re.findall(r'href="(/marketplace/\?[^"]*|\?[^"]*)"', html)
    ]
    category, onward = links[1], links[-1]
    assert parse_qs(urlsplit(category).query) == {
        "q": ["stars"], "category": ["loyalty"], "without": ["customers"], "sort": ["name"], "limit": ["1"]
    }  # fmt: skip
    assert parse_qs(urlsplit(onward).query)["page"] == ["3"]
    assert parse_qs(urlsplit(onward).query)["q"] == ["stars"]


@pytest.mark.parametrize(
    ("query", "text", "ways_on"),
    [
        ("?category=shipping", "No apps in this category yet", ["Browse all apps"]),
        ("?q=zeppelin", "No apps match “zeppelin”", ["Clear the search", "Browse all apps"]),
        ("?q=stars&category=pos", "No apps match “stars” in Point of sale", ["Search all categories (1)"]),
        ("?without=customers", "No apps match these filters", ["Browse all apps"]),
        ("?page=9", "No apps on this page", ["Go to the first page"]),
    ],
)
def test_nothing_found_leaves_a_way_on(
    client: Client, dana: User, query: str, text: str, ways_on: list[str]
) -> None:
    listed(dana, "Loyalty Stars", category="loyalty")
    html = page(client, query)
    assert text in html
    for way in ways_on:
        assert way in html


def test_empty_marketplace_says_so(client: Client, db: None) -> None:
    assert "No apps yet" in page(client)
    assert "No app has passed review yet" in client.get("/").content.decode()


@pytest.mark.parametrize("query", ["?category=hats", "?sort=luck", "?without=shame", f"?q={'x' * 101}"])
def test_filter_that_is_none_is_refused(client: Client, dana: User, query: str) -> None:
    listed(dana)
    response = client.get(f"/marketplace/{query}")
    assert response.status_code == 422
    assert "There is a problem" in response.content.decode()
    assert "app-card" not in response.content.decode()


@pytest.mark.parametrize("query", ["?page=0", "?page=x", "?limit=-1"])
def test_page_that_is_none_is_400(client: Client, db: None, query: str) -> None:
    assert client.get(f"/marketplace/{query}", headers={"accept": "text/html"}).status_code == 400


def test_apps_are_filtered_by_what_they_do_not_ask_for(client: Client, dana: User) -> None:
    listed(dana, "All", scopes=["read_products", "read_orders", "write_orders"])
    listed(dana, "Orders", scopes=["read_orders"])
    listed(dana, "Reviews", scopes=["read_reviews"])
    listed(dana, "Shelf", scopes=["read_products", "read_pages"])
    assert names(client, "?without=customers") == ["Shelf"]
    assert names(client, "?without=changes") == ["Orders", "Reviews", "Shelf"]
    assert names(client, "?without=changes&without=customers") == ["Shelf"]
    assert counts(client, "?without=changes")["All apps"] == 3


def test_apps_are_sorted(client: Client, dana: User, shop: Business) -> None:
    first, second = listed(dana, "beta"), listed(dana, "Alpha")
    listed(dana, "Gamma")
    install(second, shop)
    factories.approve(first)
    assert names(client) == ["Alpha", "beta", "Gamma"]
    assert names(client, "?sort=updated") == ["beta", "Gamma", "Alpha"]
    assert names(client, "?sort=name") == ["Alpha", "beta", "Gamma"]
    install(first, factories.business(shop.owner))
    install(first, shop)
    assert names(client) == ["beta", "Alpha", "Gamma"]


@pytest.mark.long
def test_pages_hold_every_app_once(client: Client, dana: User) -> None:
    for number in range(30):
        listed(dana, f"App {number:02}")
    first, second = names(client), names(client, "?page=2")
    assert (len(first), len(second)) == (24, 6)
    assert sorted(first + second) == [f"App {number:02}" for number in range(30)]
    assert "30 apps" in page(client)
    assert "1–24 of 30" in page(client)


# Cards


@pytest.mark.long
@pytest.mark.spec("States/Installation", "Test installs and installs on sandboxes are not counted")
def test_only_shops_that_have_the_app_count(
    client: Client, dana: User, sam: User, shop: Business, sandbox: Business
) -> None:
    app = listed(dana)
    install_for_test(app=app, developer=dana)
    install(app, Business.objects.sandbox_of(sam))
    assert "0 installs" in page(client)
    installation = install(app, shop)
    install(app, shop)  # agreeing again is no other install
    assert "1 install<" in page(client)
    install(app, factories.business(shop.owner))
    assert "2 installs" in page(client)
    assert "2 installs" in app_page(client, app)
    lifecycle.uninstall(installation=installation)
    assert "1 install<" in page(client)


def test_uninstall_succeeds_where_the_count_is_wrong(client: Client, dana: User, shop: Business) -> None:
    app = listed(dana)
    lifecycle.uninstall(installation=factories.installation(app, shop))
    assert "0 installs" in page(client)


def test_card_says_what_the_app_reads_and_changes(client: Client, dana: User) -> None:
    listed(dana, "One", scopes=["read_products", "read_orders", "write_orders"])
    listed(dana, "Two", scopes=["read_analytics", "read_business"])
    html = page(client)
    assert "Reads products, orders; changes orders" in html
    assert "Reads sales figures, store details" in html
    assert "read_products" not in html


@pytest.mark.spec(CONTRACT, "Apps that the signed-in merchant has are marked")
def test_installed_apps_are_marked_for_their_merchant(
    client: Client, dana: User, mira: User, shop: Business
) -> None:
    app, _ = listed(dana), listed(dana, "Another")
    ended = listed(dana, "Earlier")
    install(app, shop)
    lifecycle.uninstall(installation=install(ended, shop))
    client.force_login(mira)
    assert page(client).count("Installed") == 1
    client.force_login(factories.merchant("else@example.com"))
    assert "Installed" not in page(client)
    assert "Installed" not in page(Client())


@pytest.mark.long
@pytest.mark.parametrize("path", ["/marketplace/", "/"])
@pytest.mark.parametrize("signed_in", [False, True])
def test_number_of_apps_costs_no_queries(
    client: Client, dana: User, mira: User, shop: Business, path: str, signed_in: bool
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    if signed_in:
        client.force_login(mira)
    install(listed(dana, "App 0"), shop)
    one = queries()
    for number in range(1, 30):
        install(listed(dana, f"App {number}"), shop)
    assert queries() == one
    assert one <= (3 if not signed_in else 6)


# An app's page


@pytest.mark.spec(CONTRACT, "An app's page shows what the app may see and do, before Install")
def test_app_page_says_what_it_may_do_before_install(client: Client, dana: User) -> None:
    app = listed(dana, scopes=["read_products", "write_orders"], description="Stars & <b>points</b>")
    html = app_page(client, app)
    reads, writes, button = (
        html.index(text)
        for text in (
            "See your products, their prices and stock",
            "Place orders, update their status",
            ">Install<",
        )
    )
    assert writes < reads < button  # what changes orders comes first
    assert "No privacy policy" not in html  # it doesn't see customers
    assert "customers" not in html[writes:reads]
    assert "Stars &amp; &lt;b&gt;points&lt;/b&gt;" in html
    for fact in ('by <span dir="auto">Dana', "0.1.0, updated", "Other", "app.example.com"):
        assert fact in html


@pytest.mark.spec(CONTRACT, "Install leads to the consent with the approved Redirect URL")
@pytest.mark.parametrize("who", ["nobody", "merchant", "other developer"])
def test_install_leads_to_the_consent(client: Client, dana: User, sam: User, mira: User, who: str) -> None:
    app = listed(dana, redirect_url="https://app.example.com/callback?from=shop&x=1")
    update_app(app=app, changes={"redirect_url": "https://next.example.com/callback"})
    if who != "nobody":
        client.force_login({"merchant": mira, "other developer": sam}[who])
    link = install_link(app_page(client, app))
    assert link is not None
    parts = urlsplit(link)
    assert parts.path == "/oauth/authorize"
    assert parse_qs(parts.query) == {
        "response_type": ["code"],
        "client_id": [app.client_id],
        "redirect_uri": ["https://app.example.com/callback?from=shop&x=1"],
    }


def test_own_developer_installs_the_working_copy(client: Client, dana: User) -> None:
    app = listed(dana)
    update_app(app=app, changes={"redirect_url": "https://next.example.com/callback"})
    client.force_login(dana)
    html = app_page(client, app)
    link = install_link(html)
    assert link is not None
    assert parse_qs(urlsplit(link).query)["redirect_uri"] == ["https://next.example.com/callback"]
    assert "Installs for testing on your sandbox store" in html


@pytest.mark.long
def test_installed_app_says_where_and_leads_to_its_page(
    client: Client, dana: User, mira: User, shop: Business
) -> None:
    app = listed(dana)
    installation = install(app, shop)
    client.force_login(mira)
    html = app_page(client, app)
    assert "Installed" in html
    assert shop.name in html.replace("&#x27;", "'")
    assert f'href="/merchant/apps/{installation.pk}/"' in html
    assert install_link(html) is None
    factories.business(mira)
    assert install_link(app_page(client, app)) is not None
    type(installation).objects.update(needs_reconsent=True)
    assert "Needs approval" in app_page(client, app)


def test_installs_of_others_are_not_shown(client: Client, dana: User, shop: Business) -> None:
    app = listed(dana)
    installation = install(app, shop)
    client.force_login(factories.merchant("else@example.com"))
    html = app_page(client, app)
    assert str(installation.pk) not in html
    assert shop.name not in html.replace("&#x27;", "'")
    assert install_link(html) is not None


def test_developer_with_a_test_install_manages_it_in_the_portal(
    client: Client, dana: User, sandbox: Business
) -> None:
    app = listed(dana)
    install_for_test(app=app, developer=dana)
    client.force_login(dana)
    html = app_page(client, app)
    assert install_link(html) is None
    assert f'href="/portal/apps/{app.slug}/test/"' in html


def test_reviewer_gets_a_sentence_and_no_button(client: Client, dana: User) -> None:
    app = listed(dana)
    rae = User.objects.create_user("rae@example.com", name="Rae", role=Role.REVIEWER)
    factories.business(rae)  # on which reviewers try what is in review
    client.force_login(rae)
    html = app_page(client, app)
    assert install_link(html) is None
    assert "Only merchants and developers can install apps" in html


@pytest.mark.long
def test_listing_is_complete(client: Client, dana: User) -> None:
    app = factories.app(
        dana,
        slug="stars",
        long_description="## Stars\n\n**Ten** for a coffee. <script>alert(1)</script> [More](https://stars.example.com)",
        support_url="mailto:help@stars.example.com",
        privacy_url="https://stars.example.com/privacy",
        webhook_url="https://stars.example.com/hooks",
    )
    shots = {"screenshots": [decode(upload())], "screenshot_alts": ["The stamp card."]}
    app = update_app(app=app, changes=shots)
    save_manifest(app=app, developer=dana, document={"hooks": [hook()], "blocks": [block()]})
    factories.approve(app)
    for number in range(4):
        listed(dana, f"Another {number}")
    html = app_page(client, app)
    for part in (
        "<h3>Stars</h3>",
        "<strong>Ten</strong>",
        '<a href="https://stars.example.com" rel="noopener nofollow">More</a>',
        'href="mailto:help@stars.example.com"',
        'href="https://stars.example.com/privacy" rel="noopener nofollow"',
        'alt="The stamp card." width="32" height="32"',
        "More apps by",
        "All apps",
    ):
        assert part in html, part
    assert "<script>alert" not in html
    at_checkout, adds = html.index("What it changes at checkout"), html.index("What it adds to your store")
    assert at_checkout < html.index("Takes discounts off orders") < adds
    bare = app_page(client, listed(dana, "Bare"))
    for part in ("Not provided", "Nothing. Prices, delivery and payment stay as you set them."):
        assert part in bare
    assert "How it performs" not in bare


@pytest.mark.parametrize(("successful", "shown"), [(98, ""), (99, "99%"), (9999, "99.9%")])
def test_listing_claims_nothing_of_few_deliveries(
    client: Client, dana: User, successful: int, shown: str
) -> None:
    app = listed(dana)
    today = timezone.now().date()
    figures = {"successful": successful, "failed": 1, "answered": successful, "duration_ms": 200 * successful}
    DailyDeliveryCount.objects.create(app=app, date=today - timedelta(days=29), **figures)
    old = figures | {"successful": 5000, "failed": 5000}
    DailyDeliveryCount.objects.create(app=app, date=today - timedelta(days=30), **old)
    html = app_page(client, app)
    assert ("How it performs" in html) == bool(shown)
    assert shown in html
    assert ("in 0.2 s on average" in html) == bool(shown)


@pytest.mark.parametrize(
    ("calls", "is_test", "days_ago"), [(99, False, 6), (100, False, 6), (100, True, 6), (100, False, 8)]
)
def test_listing_shows_how_production_hooks_answered_lately(
    client: Client, dana: User, shop: Business, calls: int, is_test: bool, days_ago: int
) -> None:
    app = factories.app(dana, slug="stars", webhook_url="https://stars.example.com/hooks")
    save_manifest(app=app, developer=dana, document={"hooks": [hook()]})
    factories.approve(app)
    installation = factories.installation(app, shop, is_test=is_test)
    definition = Definition.objects.get(app=app)
    HookCall.objects.bulk_create(
        HookCall(
            installation=installation,
            definition=definition,
            hook_point=definition.key,
            called_at=timezone.now() - timedelta(days=days_ago),
            duration_ms=300,
            outcome=CallOutcome.ANSWERED,
        )
        for _ in range(calls)
    )
    shown = "100%" in app_page(client, app)
    assert shown == (calls >= 100 and not is_test and days_ago < 7)
    assert ("usually within 0.3 s" in app_page(client, app)) == shown


@pytest.mark.parametrize("status", [AppStatus.DRAFT, AppStatus.PENDING_REVIEW, AppStatus.APPROVED])
def test_preview_shows_the_working_copy_to_its_developer_alone(
    client: Client, dana: User, sam: User, mira: User, status: str
) -> None:
    app = factories.app(dana, name="Secret plans", slug="secret", status=status, long_description="*Soon*")
    path = "/marketplace/secret/preview/"
    assert client.get(path).status_code == 302
    client.force_login(dana)
    html = client.get(path).content.decode()
    for part in ("Secret plans", "<em>Soon</em>", "Only you can see this page"):
        assert part in html
    assert install_link(html) is None
    for other in (sam, mira, factories.reviewer()):
        client.force_login(other)
        assert client.get(path).status_code == 404
    App.objects.filter(pk=app.pk).update(deleted_at=timezone.now())
    client.force_login(dana)
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/marketplace/nothing/", "/marketplace/No%20slug/", "/marketplace/%00/"])
def test_unknown_app_is_404(client: Client, db: None, path: str) -> None:
    assert client.get(path, headers={"accept": "text/html"}).status_code == 404


@pytest.mark.parametrize("path", ["/marketplace/", "/marketplace/loyalty-stars/"])
def test_pages_are_only_read(client: Client, dana: User, path: str) -> None:
    listed(dana)
    assert client.post(path).status_code == 405
    assert client.head(path).status_code == 200


@pytest.mark.spec(CONTRACT, "The front page leads into the marketplace")
@pytest.mark.parametrize("who", ["nobody", "developer", "merchant"])
def test_front_page_leads_into_the_marketplace(client: Client, dana: User, mira: User, who: str) -> None:
    listed(dana)
    if who != "nobody":
        client.force_login({"developer": dana, "merchant": mira}[who])
    html = client.get("/").content.decode()
    assert 'href="/marketplace/loyalty-stars/"' in html
    assert 'action="/marketplace/"' in html
    assert "Browse apps" in html
    for_visitors = "Your first three minutes"
    assert (for_visitors in html) == (who == "nobody")
    if who == "developer":
        assert 'href="/portal/apps/loyalty-stars/"' in html


def test_most_installed_app_with_a_picture_comes_first_and_only_once(
    client: Client, dana: User, shop: Business
) -> None:
    """On the first page of all apps, where there are a few."""
    app = factories.app(dana, name="Zebra", slug="zebra")
    update_app(app=app, changes={"screenshots": [decode(upload())], "screenshot_alts": ["The stripes."]})
    factories.approve(App.objects.get(pk=app.pk))
    install(App.objects.get(pk=app.pk), shop)
    for name in ("Alpha", "Beta"):
        listed(dana, name)
    assert "featured" not in client.get("/marketplace/").text, "three are seen anyway"
    listed(dana, "Gamma")
    html = client.get("/marketplace/").text
    assert html.count('href="/marketplace/zebra/"') == 1
    shown = html.partition('class="app-card featured"')[2].partition("</article>")[0]
    assert "Zebra" in shown
    assert 'alt="The stripes."' in shown
    assert "<strong>4 apps</strong>" in html
    for query in ("?sort=name", "?q=a", "?without=changes", f"?category={app.category}"):
        assert "featured" not in client.get(f"/marketplace/{query}").text, query


def test_categories_without_apps_come_last(client: Client, dana: User) -> None:
    listed(dana, "Loyal", category=Category.LOYALTY)
    assert list(counts(client))[:2] == ["All apps", "Loyalty"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Rings a bell", "Rings a bell"),
        ("Rings a very large bell", "Rings a very…"),
        ("R" * 20, f"{'R' * 14}…"),
    ],
)
def test_words_of_cards_are_never_cut_within_a_word(text: str, shown: str) -> None:
    assert cut(text, 15) == shown
