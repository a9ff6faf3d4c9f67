"""The portal's pages for apps, in a browser without JavaScript."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from activity.models import ScopeUse
from common.text.countries import CODES
from developers.portal.apps.details_form import EditAppForm, field_url
from installations.models import Installation
from marketplace.data_terms import DataTerms
from marketplace.models import App, AppTotals, AppVersion, Picture, Submission
from marketplace.scopes import SCOPES
from tests import factories
from tests.deliveries import OK, UNAUTHORIZED, delivery
from tests.developers.portal.paths import pages_of
from tests.pages import signed_in, text_of
from tests.pictures import picture, upload
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import DailyDeliveryCount, Delivery, Webhook

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)
SECRET = re.compile(r"fbcs_[A-Za-z0-9_-]{20,}")
FORM: dict[str, Any] = {
    "name": "Loyalty Stars",
    "slug": "loyalty-stars",
    "description": "Stars for regulars.",
    "category": "loyalty",
    "scopes": ["read_products", "read_orders"],
    "redirect_url": "https://stars.example.com/callback",
    "webhook_url": "",
    "form_token": "a-token-of-this-form",
}


def edit_form(app: App, **changes: Any) -> dict[str, Any]:
    """The form data of the untouched sections of the details, with `changes`. Each section takes its own fields."""
    fields = (
        "name",
        "version",
        "description",
        "category",
        "scopes",
        "redirect_url",
        "webhook_url",
        "webhook_events",
    )
    return {field: getattr(app, field) for field in fields} | changes


# --- Access -------------------------------------------------------------------------------


def test_app_of_another_is_not_listed(sam: User, app: App) -> None:
    assert app.name not in text_of(signed_in(sam).get("/portal/"))


def test_pages_of_a_deleted_app_do_not_exist(browser: Client, dana: User) -> None:
    gone = factories.app(dana, deleted_at=timezone.now())
    for path in pages_of(gone):
        assert browser.get(path).status_code == 404


# --- The list ---------------------------------------------------------------------------------------


def test_list_without_apps_offers_to_create_one(browser: Client) -> None:
    page = text_of(browser.get("/portal/"))
    assert "You have no apps yet" in page
    assert page.count("button primary") == 1
    assert "Create app" in page


def test_list_without_apps_leads_to_examples_and_the_command_line(browser: Client) -> None:
    html = browser.get("/portal/").content.decode()
    links = re.findall(r'href="(/portal/create/\?example=(\w+))"', html)
    assert len(links) == 3
    for link, key in links:
        assert re.search(rf'value="{key}"[^>]* checked', browser.get(link).content.decode()), key
    assert "extension-platform new my-app --template flask" in text_of(browser.get("/portal/"))
    assert 'href="/docs/guides/first-app/"' in html


@pytest.mark.long
def test_switcher_leads_to_the_same_page_of_another_app(
    browser: Client, app: App, dana: User, sam: User
) -> None:
    alone = browser.get(f"/portal/apps/{app.slug}/").content.decode().partition("Other apps")[2]
    assert re.findall(r'<li><a href="([^"]+)"', alone.partition("</ul>")[0]) == ["/portal/"]
    factories.app(dana, name="Till Bridge", slug="till-bridge")
    factories.app(sam, name="Review Wall", slug="review-wall")

    def links(path: str) -> list[str]:
        part = (
            browser.get(f"/portal/apps/{app.slug}/{path}")
            .content.decode()
            .partition('aria-label="Other apps"')[2]
        )
        return re.findall(r'href="([^"]*)"', part.partition("</ul>")[0])

    assert links("") == ["/portal/apps/till-bridge/", "/portal/"]
    assert links("webhooks/") == ["/portal/apps/till-bridge/webhooks/", "/portal/"]
    assert links("details/pictures/") == ["/portal/apps/till-bridge/", "/portal/"]
    assert browser.get(links("webhooks/")[0]).status_code == 200


def test_list_shows_each_app_with_its_state(browser: Client, dana: User, sam: User) -> None:
    factories.app(dana, name="Till Bridge", slug="till-bridge", version="1.4.0", status="APPROVED")
    factories.app(dana, name="Review Wall", slug="review-wall", status="PENDING_REVIEW")
    live = factories.app(dana, name="Half Live", slug="half-live")
    App.objects.filter(pk=live.pk).update(approved_version=AppVersion.objects.create(app=live, number=1))
    factories.app(sam, name="Sam's app")
    page = text_of(browser.get("/portal/"))
    for text in (
        "Till Bridge",
        "till-bridge",
        "1.4.0",
        "Approved",
        "Review Wall",
        "In review",
        "Draft",
        "Live",
    ):
        assert text in page
    assert "Sam&#x27;s app" not in page
    assert page.index("Half Live") < page.index("Review Wall") < page.index("Till Bridge")


def test_list_is_paginated(browser: Client, dana: User, django_assert_max_num_queries: Any) -> None:
    for number in range(21):
        factories.app(dana, name=f"App no. {number:02}")
    with django_assert_max_num_queries(6):
        first = text_of(browser.get("/portal/"))
    second = text_of(browser.get("/portal/?page=2"))
    assert ("App no. 20" in first, "App no. 00" in first) == (True, False)
    assert ("App no. 20" in second, "App no. 00" in second) == (False, True)


# --- A new app --------------------------------------------------------------------------------------


def test_list_begins_with_what_needs_attention(
    browser: Client, dana: User, mira: User, installation: Installation, django_assert_num_queries: Any
) -> None:
    now = timezone.now()
    quiet = factories.app(dana, name="Quiet", slug="quiet", updated_at=now)
    failing = factories.app(dana, name="Failing", slug="failing")
    rejected = factories.app(dana, name="Rejected", slug="rejected")
    Submission.objects.create(app=rejected, status="REJECTED", submitted_at=now)
    asked = factories.app(dana, name="Asked", slug="asked")
    shop = Business.objects.get(owner=mira)
    for app, fields in ((failing, {}), (asked, {"needs_reconsent": True}), (quiet, {})):
        made = factories.installation(app, shop, **fields)
        url = f"https://{app.slug}.example.com/"
        since = now if app == failing else None
        Webhook.objects.create(installation=made, url=url, secret="x", failing_since=since)
    ended = factories.installation(quiet, factories.business(mira), uninstalled_at=now, needs_reconsent=True)
    Webhook.objects.create(installation=ended, url="https://x.example.com/", secret="x", failing_since=now)
    AppTotals.objects.create(app=quiet, installs=1204)
    DailyDeliveryCount.objects.create(
        app=quiet, date=now.date(), successful=30, failed=2, answered=32, duration_ms=1
    )
    ScopeUse.objects.create(
        app=quiet, scope="read_orders", route="GET /app-api/orders", day=now.date(), count=77
    )
    with django_assert_num_queries(5):
        page = text_of(browser.get("/portal/"))
    assert page.index("Failing") < page.index("Rejected") < page.index("Asked") < page.index("Quiet")
    assert page.count('class="kind-') == 3
    for text in (
        "A webhook endpoint is failing", "Changes requested", "Stores haven&#x27;t agreed", "1,204", "77 calls",
        "30 succeeded and 2 failed",
    ):  # fmt: skip
        assert text in page


@pytest.mark.parametrize(("part", "statements"), [("rows", 2), ("sandbox", 5), ("stores", 6)])
def test_open_page_asks_cheaply_whether_something_fails(
    browser: Client, app: App, sandbox: Business, shop: Business, part: str, statements: int,
    django_assert_num_queries: Any,
) -> None:  # fmt: skip
    """Few statements while nothing changes: the session, the person and the problems. Of one app also its deliveries."""
    path, asked = "/portal/", {"part": "rows"}
    if part != "rows":
        path, asked = f"/portal/apps/{app.slug}/", {"in": part, "part": "live"}
    installed = factories.installation(app, sandbox)
    if part == "stores":
        factories.installation(app, shop)
    webhook = helpers.webhook(installed, "https://a.example.com/", ["order.created"])
    page = text_of(browser.get(path, asked | {"part": ""}))
    asked["seen"] = re.findall(r'data-live-url=[^>]*data-version="(\w+)"', page)[0]
    with django_assert_num_queries(statements):
        assert browser.get(path, asked).status_code == 204
    failing = delivery(webhook, DeliveryStatus.RETRYING, UNAUTHORIZED)
    moved = browser.get(path, asked)
    assert "A webhook endpoint is failing" in text_of(moved)
    assert moved["X-Live-Version"] != asked["seen"]
    Delivery.objects.filter(pk=failing.pk).update(
        status=DeliveryStatus.SUCCEEDED, due_at=None, finished_at=timezone.now()
    )
    over = browser.get(path, asked)
    assert over.status_code == (204 if part == "rows" else 200)  # a delivery more is on the overview
    assert "A webhook endpoint is failing" not in text_of(over)


@pytest.mark.long
def test_overview_that_is_open_follows_its_latest_problems(browser: Client, app: App, shop: Business) -> None:
    """Where no figure changes: a failed delivery is resent, and one that was delivered is no problem while it is."""
    installed = factories.installation(app, shop)
    webhook = helpers.webhook(installed, "https://a.example.com/", ["order.created"])
    failed = delivery(webhook, DeliveryStatus.EXHAUSTED, UNAUTHORIZED)
    delivery(webhook, DeliveryStatus.PENDING, OK, event_type="product.low_stock")

    def problems(**seen: str) -> tuple[str, str]:
        answer = browser.get(f"/portal/apps/{app.slug}/", {"in": "sandbox", "part": "live", **seen})
        assert answer.status_code == 200
        return answer["X-Live-Version"], text_of(answer).partition("Latest problems")[2]

    version, shown = problems()
    assert "Failed" in shown
    for status, name in ((DeliveryStatus.PENDING, "Pending"), (DeliveryStatus.HELD, "Held")):
        Delivery.objects.filter(pk=failed.pk).update(status=status)
        version, shown = problems(seen=version)
        assert (name in shown, "product.low_stock" in shown) == (True, False)
    Delivery.objects.filter(pk=failed.pk).update(status=DeliveryStatus.SUCCEEDED)
    assert "None of the newest" in problems(seen=version)[1]


def test_open_list_keeps_its_search(browser: Client, dana: User, app: App) -> None:
    factories.app(dana, name="Till Bridge", slug="till")
    address = re.findall(r'data-live-url="([^"]+)"', text_of(browser.get("/portal/?q=bridge")))[0]
    part = text_of(browser.get(f"/portal/{address}".replace("&amp;", "&")))
    assert "Till Bridge" in part
    assert app.name not in part


def test_list_of_many_apps_can_be_searched(browser: Client, dana: User) -> None:
    factories.app(dana, name="Till Bridge", slug="till")
    assert 'id="q"' not in text_of(browser.get("/portal/"))
    for number in range(8):
        factories.app(dana, name=f"Other {number}")
    assert 'id="q"' in text_of(browser.get("/portal/"))
    page = text_of(browser.get("/portal/?q=bridge"))
    assert "Till Bridge" in page
    assert "Other 1" not in page
    assert "No app matches" in text_of(browser.get("/portal/?q=zeppelin"))


def test_create_page_explains_each_scope(browser: Client) -> None:
    page = text_of(browser.get("/portal/create/"))
    for scope in SCOPES.values():
        assert scope.name in page
        assert scope.sentence.replace("'", "&#x27;") in page
    assert "change it later." in page


@pytest.mark.long
@pytest.mark.spec("Resources/App", "The Client Secret is shown once, in the portal too")
def test_create_shows_the_secret_once(browser: Client) -> None:
    response = browser.post("/portal/create/", FORM)
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    app = App.objects.get()
    secret = SECRET.search(text_of(response))
    assert secret
    assert app.client_secret_hint == secret[0][-4:]
    assert app.client_id in text_of(response)
    for path in ["/portal/", *pages_of(app)]:
        assert secret[0] not in text_of(browser.get(path, follow=True))
    assert secret[0] not in str(dict(browser.session))


def test_create_form_sent_twice_creates_one_app(browser: Client) -> None:
    first = browser.post("/portal/create/", FORM)
    before = App.objects.values().get()
    again = browser.post("/portal/create/", FORM)
    assert again.status_code == 409
    assert "can't be shown again" in text_of(again).replace("&#x27;", "'")
    assert SECRET.search(text_of(first))
    assert not SECRET.search(text_of(again))
    assert App.objects.values().get() == before


def test_create_with_problems_keeps_the_input(browser: Client) -> None:
    response = browser.post(
        "/portal/create/", FORM | {"name": "", "slug": "Two Words", "redirect_url": "nothing"}
    )
    page = text_of(response)
    assert response.status_code == 422
    assert "<title>Error: " in page
    assert "There is a problem" in page
    for kept in ("Two Words", "nothing", "Stars for regulars."):
        assert kept in page
    assert re.search(r'value="read_orders"[^>]*checked', page)
    assert "Enter a name." in page
    assert "Enter a slug of lowercase letters" in page
    assert "Enter a URL that starts with https://" in page
    assert not App.objects.exists()


def test_create_with_a_local_redirect_url_without_scheme_names_accepted_urls(
    browser: Client, settings: Any
) -> None:
    settings.DEBUG = True
    typed = FORM | {"redirect_url": "localhost:3000/cb"}
    assert "or with http://localhost or http://127.0.0.1" in text_of(browser.post("/portal/create/", typed))
    assert (
        browser.post("/portal/create/", FORM | {"redirect_url": "http://localhost:3000/cb"}).status_code
        == 200
    )


def test_create_with_a_taken_slug_shows_it_at_the_field_and_can_be_retried(
    browser: Client, sam: User
) -> None:
    factories.app(sam, slug="stars")
    response = browser.post("/portal/create/", FORM | {"slug": "stars"})
    assert response.status_code == 422
    assert response.context["form"].errors == {"slug": ["Another app has this slug. Choose another one."]}
    assert "Another app has this slug" in text_of(response)
    assert "Stars for regulars." in text_of(response)
    assert browser.post("/portal/create/", FORM | {"slug": "stars-2"}).status_code == 200
    assert App.objects.filter(slug="stars-2").exists()


# --- Overview ---------------------------------------------------------------------------------------


def steps_done(page: str) -> list[bool]:
    return [
        "Done:" in step
        for step in re.findall(r"<li class=.*?</li>", page[page.index('class="checklist"') :], re.DOTALL)
    ]


@pytest.mark.long
def test_overview_completes_its_steps_from_facts(browser: Client, app: App, sandbox: Business) -> None:
    path = f"/portal/apps/{app.slug}/"
    assert steps_done(text_of(browser.get(path)))[:5] == [True, False, False, False, False]
    installed = factories.installation(app, sandbox)
    assert steps_done(text_of(browser.get(path)))[:5] == [True, True, False, False, False]
    Installation.objects.filter(pk=installed.pk).update(last_used_at=NOW, uninstalled_at=NOW)
    page = text_of(browser.get(path))
    assert steps_done(page)[:5] == [True, True, True, False, False]
    assert "20 Nov 2026, 15:31:08 UTC" in page


def test_overview_counts_only_the_developers_sandbox(
    browser: Client, app: App, shop: Business, sam: User
) -> None:
    for business in (shop, Business.objects.sandbox_of(sam)):
        factories.installation(app, business, last_used_at=NOW, is_test=True)
    assert steps_done(text_of(browser.get(f"/portal/apps/{app.slug}/")))[:3] == [True, False, False]


@pytest.mark.long
def test_next_steps_come_before_empty_plots(browser: Client, app: App, installation: Installation) -> None:
    webhook = helpers.webhook(installation, "https://app.example.com/", ["order.created"])

    def headings() -> list[str]:
        page = text_of(browser.get(f"/portal/apps/{app.slug}/"))
        return sorted(("<h2>Set up</h2>", "Webhook deliveries"), key=page.index)

    assert headings()[0] == "<h2>Set up</h2>"
    Installation.objects.filter(pk=installation.pk).update(last_used_at=NOW)
    assert headings()[0] == "<h2>Set up</h2>"
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    assert headings()[1] == "<h2>Set up</h2>"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Draft. Only you can see it"),
        ({"status": "PENDING_REVIEW"}, "In review. You can't edit it"),
        ({"status": "APPROVED"}, "Approved. Merchants can find"),
        ({"suspended_at": NOW}, "Suspended by a reviewer"),
    ],
)
def test_overview_describes_the_status(
    browser: Client, app: App, fields: dict[str, Any], sentence: str
) -> None:
    App.objects.update(**fields)
    assert sentence in text_of(browser.get(f"/portal/apps/{app.slug}/")).replace("&#x27;", "'")


def test_overview_shows_health_once_a_merchant_has_the_app(
    browser: Client, app: App, installation: Installation, shop: Business
) -> None:
    path = f"/portal/apps/{app.slug}/"
    assert "Set up" in text_of(browser.get(path))
    factories.approve(app)
    made = factories.installation(app, shop, is_test=False)
    AppTotals.objects.create(app=app, installs=1)
    DailyDeliveryCount.objects.create(
        app=app,
        date=timezone.now().date() - timedelta(days=2),
        successful=3,
        failed=1,
        answered=4,
        duration_ms=1,
    )
    hook = Webhook.objects.create(
        installation=made, url="https://x.example.com/", secret="x", failing_since=NOW, events=["x"]
    )
    failed = delivery(hook, DeliveryStatus.EXHAUSTED)
    page = text_of(browser.get(path))
    assert "Set up" not in page
    for text in (
        "A webhook endpoint is failing", "75.0%", "3 succeeded and 1 failed", str(failed.pk),
        f"/marketplace/{app.slug}/",
    ):  # fmt: skip
        assert text in page


# --- Details ----------------------------------------------------------------------------------------


def test_each_section_of_the_details_saves_its_own_fields(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/details/"
    form = edit_form(
        app, name="New", version="1.0.0", scopes=["read_pages"], webhook_events=["order.created"]
    )
    for section, saved in (
        ("", ("New", "1.0.0", app.scopes, app.webhook_events)),
        ("access/", ("New", "1.0.0", ["read_pages"], app.webhook_events)),
        ("events/", ("New", "1.0.0", ["read_pages"], ["order.created"])),
    ):
        response = browser.post(f"{path}{section}", form)
        assert (response.status_code, response["Location"]) == (302, f"{path}{section}")
        app = App.objects.get()
        assert (app.name, app.version, app.scopes, app.webhook_events) == saved
    assert "Saved." in text_of(browser.get(path))
    assert browser.get(f"{path}nothing/").status_code == 404


@pytest.mark.long
def test_links_to_a_field_of_the_details_lead_to_its_section(browser: Client, app: App) -> None:
    for field in set(EditAppForm.base_fields) - {"remove_icon", "remove_screenshots"}:  # shown with pictures
        page, _, anchor = field_url(app, field).partition("#")
        assert f'id="{anchor}"' in browser.get(page).content.decode(), field


def test_edit_without_changes_keeps_the_status(browser: Client, app: App) -> None:
    App.objects.update(status="APPROVED", description="Line one.\nLine two.")
    app.refresh_from_db()
    form = edit_form(app, description="Line one.\r\nLine two.")
    assert browser.post(f"/portal/apps/{app.slug}/details/", form).status_code == 302
    updated = App.objects.get()
    assert (updated.status, updated.updated_at) == ("APPROVED", app.updated_at)


@pytest.mark.long
def test_edit_adds_and_removes_pictures(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/details/pictures/"
    browser.post(path, edit_form(app, icon=upload(), screenshots=[upload(), upload(picture("WEBP"))]))
    app.refresh_from_db()
    assert (app.icon_id is not None, len(app.screenshot_ids)) == (True, 2)
    first, second = app.screenshot_ids
    page = text_of(browser.get(path))
    assert f"/media/pictures/{first}" in page
    browser.post(path, edit_form(app, remove_icon="on", remove_screenshots=[first], screenshots=[upload()]))
    app.refresh_from_db()
    assert app.icon_id is None
    assert app.screenshot_ids[0] == second
    assert Picture.objects.count() == len(app.screenshot_ids) == 2


@pytest.mark.long
def test_edit_of_the_listing(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/details/"
    browser.post(f"{path}pictures/", edit_form(app, screenshots=[upload(), upload()]))
    app.refresh_from_db()
    first, second = app.screenshot_ids
    listing = {
        "long_description": "## Stars\r\n\r\nFor regulars.",
        "support_url": "help@stars.example.com",
        "privacy_url": "https://stars.example.com/privacy",
    }
    alts = {f"alt_{first}": "The stamp card.", f"alt_{second}": "The till."}
    assert browser.post(path, edit_form(app, **listing))["Location"] == path
    browser.post(f"{path}pictures/", alts)
    app.refresh_from_db()
    assert (app.long_description, app.support_url) == (
        "## Stars\n\nFor regulars.",
        "mailto:help@stars.example.com",
    )
    assert (app.screenshot_ids, app.screenshot_alts) == ([first, second], ["The stamp card.", "The till."])
    page = text_of(browser.get(path)) + text_of(browser.get(f"{path}pictures/"))
    for part in ('value="help@stars.example.com"', 'value="The till."', f"/marketplace/{app.slug}/preview/"):
        assert part in page
    browser.post(f"{path}pictures/", alts | {"remove_screenshots": [first]})
    app.refresh_from_db()
    assert app.alt_texts == {second: "The till."}
    wrong = browser.post(
        path, edit_form(app, **listing | {"support_url": "call me", "privacy_url": "http://a.b"})
    )
    assert wrong.status_code == 422
    assert "an e-mail address, or a link that starts with https://" in text_of(wrong)


@pytest.mark.long
@pytest.mark.spec("Contract 22 Where the data goes", "The portal's Listing has the three fields")
def test_edit_of_where_the_data_goes(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/details/"
    data = {"data_countries": ["DE", "JP"], "data_retention_days": "30", "data_processors": "Mailer Ltd."}
    assert browser.post(path, edit_form(app, **data))["Location"] == path
    app.refresh_from_db()
    assert app.data_terms == DataTerms(["DE", "JP"], 30, "Mailer Ltd.")
    page = text_of(browser.get(path))
    for part in (
        "Your data is kept in Germany and Japan, for 30 days.",
        'value="30"',
        'value="Mailer Ltd."',
        "Åland Islands",
    ):
        assert part in page
    for changes, words in (
        ({"data_countries": []}, "Choose at least one country, or leave out for how many days"),
        ({"data_countries": ["XX"]}, "XX is not one of the available choices"),
        ({"data_countries": list(CODES[:31])}, "Choose at most 30 countries."),
        ({"data_retention_days": "3651"}, "less than or equal to 3650"),
        ({"data_processors": "https://mailer.example"}, "without the address of a page"),
    ):
        wrong = browser.post(path, edit_form(app, **data | changes))
        assert (wrong.status_code, words in text_of(wrong)) == (422, True), words
    app.refresh_from_db()
    assert app.data_terms == DataTerms(["DE", "JP"], 30, "Mailer Ltd.")
    gone = {"data_countries": [], "data_retention_days": "", "data_processors": ""}
    browser.post(path, edit_form(app, **gone))
    app.refresh_from_db()
    assert app.data_terms == DataTerms([], None, "")


@pytest.mark.long
def test_edit_accepts_five_screenshots_in_total(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/details/pictures/"
    browser.post(path, edit_form(app, screenshots=[upload() for _ in range(3)]))
    response = browser.post(path, edit_form(app, screenshots=[upload() for _ in range(3)]))
    assert response.status_code == 422
    assert "at most 5 screenshots" in text_of(response)
    assert "Choose your pictures again" in text_of(response)
    app.refresh_from_db()
    assert len(app.screenshot_ids) == 3


@pytest.mark.long
def test_edit_with_a_bad_picture_shows_an_error_and_keeps_the_input(browser: Client, app: App) -> None:
    browser.post(f"/portal/apps/{app.slug}/details/pictures/", {"screenshots": [upload()]})
    app.refresh_from_db()
    form = {f"alt_{app.screenshot_ids[0]}": "A new text", "icon": upload(b"some text")}
    response = browser.post(f"/portal/apps/{app.slug}/details/pictures/", form)
    assert response.status_code == 422
    assert "Choose a PNG, JPEG or WebP picture." in text_of(response)
    assert "A new text" in text_of(response)


def test_edit_of_an_approved_app_announces_a_draft(browser: Client, app: App) -> None:
    version = AppVersion.objects.create(app=app, number=1, name="Old", version="0.1.0")
    App.objects.update(status="APPROVED", approved_version=version)
    path = f"/portal/apps/{app.slug}/details/"
    assert "Saving creates a draft" in text_of(browser.get(path))
    response = browser.post(path, edit_form(app, name="New"), follow=True)
    assert "Saved as a draft" in text_of(response)
    assert App.objects.get().status == "DRAFT"


def test_edit_in_review_is_locked(browser: Client, app: App) -> None:
    App.objects.update(status="PENDING_REVIEW")
    path = f"/portal/apps/{app.slug}/details/"
    page = text_of(browser.get(path))
    assert re.search(r"<fieldset[^>]* disabled", page)
    assert ">Save<" not in page
    response = browser.post(path, edit_form(app, name="New"))
    assert response.status_code == 409
    assert "in review" in text_of(response)
    assert App.objects.get().name == app.name


# --- Credentials ------------------------------------------------------------------------------------


def test_credentials_show_the_client_id_and_the_end_of_the_secret(browser: Client, app: App) -> None:
    App.objects.update(client_secret_hint="Wx1z", client_secret_issued_at=NOW)
    page = text_of(browser.get(f"/portal/apps/{app.slug}/credentials/"))
    assert app.client_id in page
    assert "fbcs_…Wx1z" in page
    assert "20 Nov 2026, 15:31:08 UTC" in page


def test_regenerate_asks_for_the_slug(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/credentials/regenerate/"
    assert "stops working immediately" in text_of(browser.get(path))
    for typed in ("", "another"):
        response = browser.post(path, {"slug": typed, "form_token": "x"})
        assert response.status_code == 422
        assert not SECRET.search(text_of(response))
    assert App.objects.get().client_secret == app.client_secret


def test_regenerate_shows_the_new_secret_once(browser: Client, app: App) -> None:
    path = f"/portal/apps/{app.slug}/credentials/regenerate/"
    response = browser.post(path, {"slug": app.slug, "form_token": "x"})
    secret = SECRET.search(text_of(response))
    assert secret
    assert "no-store" in response["Cache-Control"]
    stored = App.objects.get()
    assert stored.client_secret_hint == secret[0][-4:]
    again = browser.post(path, {"slug": app.slug, "form_token": "x"})
    assert (again.status_code, SECRET.search(text_of(again))) == (409, None)
    assert App.objects.get().client_secret == stored.client_secret
    assert SECRET.search(text_of(browser.post(path, {"slug": app.slug, "form_token": "another form"})))


# --- Deleting ----------------------------------------------------------------------------------------


def test_delete_asks_for_the_slug_and_ends_the_test_install(
    browser: Client, app: App, installation: Installation
) -> None:
    path = f"/portal/apps/{app.slug}/delete/"
    assert browser.post(path, {"slug": "another"}).status_code == 422
    assert App.objects.live().exists()
    response = browser.post(path, {"slug": app.slug}, follow=True)
    assert "was deleted" in text_of(response)
    assert not App.objects.live().exists()
    assert not Installation.objects.active().exists()


def test_delete_of_an_approved_app_is_not_offered(browser: Client, app: App) -> None:
    App.objects.update(approved_version=AppVersion.objects.create(app=app, number=1))
    path = f"/portal/apps/{app.slug}/delete/"
    assert "can't be deleted" in text_of(browser.get(path)).replace("&#x27;", "'")
    assert browser.post(path, {"slug": app.slug}).status_code == 409
    assert App.objects.live().exists()
