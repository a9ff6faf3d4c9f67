"""The portal's pages Review and Versions, in a browser without JavaScript."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from developers.portal.apps.details_form import field_url
from extensions.services.manifests import save_manifest
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services.lifecycle import uninstall
from marketplace.models import App, AppVersion, Picture, Submission
from marketplace.services import reviews
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from tests import factories
from tests.forms import form_at, send
from tests.pages import main_words_of, signed_in, text_of, words_of
from tests.pictures import upload

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)
ENDINGS = ("review/", "review/submit/", "review/withdraw/", "versions/")


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer()


@pytest.fixture
def stars(dana: User) -> App:
    """A draft without Webhook URL and pictures."""
    return factories.app(dana, name="Loyalty Stars", slug="stars", version="1.4.0", scopes=["read_products"])


def page_of(browser: Client, app: App, ending: str = "review/") -> str:
    """The text of a page, without tags."""
    response = browser.get(f"/portal/apps/{app.slug}/{ending}")
    assert response.status_code == 200
    return main_words_of(response)


# --- Access ----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("ending", ENDINGS)
def test_pages_are_only_for_the_apps_developer(
    client: Client, sam: User, mira: User, rita: User, stars: App, ending: str
) -> None:
    submission = factories.submit(stars, notes="Between us.")
    path = f"/portal/apps/stars/{ending}"
    for act in (client.get, client.post):
        assert act(path, headers={"accept": "text/html"}).status_code in (302, 405)
    for stranger, status in ((sam, 404), (mira, 403), (rita, 403)):
        for act in (signed_in(stranger).get, signed_in(stranger).post):
            response = act(path)
            assert response.status_code in (status, 405)
            assert "Between us" not in response.content.decode()
    submission.refresh_from_db()
    assert submission.status == "PENDING_REVIEW"


# --- The checklist ------------------------------------------------------------------------------------


def test_checklist_of_a_new_app_lists_open_items(browser: Client, stars: App) -> None:
    page = page_of(browser, stars)
    for criterion in ("Functionality", "Security", "Scope appropriateness", "Quality", "Policy compliance"):
        assert criterion in page
    for line in (
        "Warning: Not installed on your sandbox store yet",
        "Warning: Hasn't called the API yet",
        "Not checked: No Webhook URL",
        "OK: The Redirect URL uses HTTPS",
        "Not checked: Requested scopes read_products.",
        "Warning: The description is very short",
        "Warning: No icon",
        "Warning: No screenshots",
    ):
        assert line in page
    assert "A reviewer will likely question 5 items below." in page
    App.objects.update(description="Few words." + 30 * " ")
    assert "The description is very short" in page_of(browser, stars)
    assert "Submit for review" in page


@pytest.mark.long
def test_checklist_of_a_complete_app_has_no_open_items(
    browser: Client, stars: App, sandbox: Business, db: None
) -> None:
    stars = update_app(
        app=stars,
        changes={
            "description": "A star for every order, a treat for ten.",
            "icon": decode(upload()),
            "screenshots": [decode(upload())],
            "webhook_events": ["product.created"],
        },
    )
    factories.installation(stars, sandbox, last_used_at=timezone.now())
    page = page_of(browser, stars)
    assert "Warning:" not in page
    assert "Problem:" not in page
    assert "All checks passed." in page
    assert "OK: Scopes and events match" in page


@pytest.mark.long
def test_checklist_names_what_an_app_that_sees_customers_lacks(
    browser: Client, stars: App, client: Client
) -> None:
    missing = ("No privacy policy", "No support contact")
    App.objects.update(scopes=["read_products"], privacy_url="", support_url="")
    assert not any(text in page_of(browser, stars) for text in missing)
    App.objects.update(scopes=["read_orders"])
    page = page_of(browser, stars)
    assert all(text in page for text in missing)
    assert "Submit for review" in page  # nothing is refused for it
    factories.approve(App.objects.get(pk=stars.pk))
    listing = text_of(client.get(f"/marketplace/{stars.slug}/"))
    assert all(text in listing for text in missing)
    App.objects.update(
        privacy_url="https://app.example.com/privacy", support_url="https://app.example.com/help"
    )
    page = page_of(browser, stars)
    assert all(text not in page for text in missing)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"redirect_url": "http://localhost/cb"}, "Enter a URL that starts with https://."),
        ({"webhook_url": "https://10.0.0.1/hooks"}, "can be reached from the internet. 10.0.0.1 cannot."),
    ],
)
def test_checklist_with_a_refused_url_blocks_the_submission(
    browser: Client, stars: App, fields: dict[str, str], problem: str, settings: Any
) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = False
    App.objects.update(**fields)
    response = browser.get("/portal/apps/stars/review/")
    page = main_words_of(response)
    assert "Problem: " in page
    assert problem in page
    assert "Fix 1 problem before you submit." in page
    assert "Submit for review" not in page
    assert field_url(stars, next(iter(fields))) in response.content.decode()
    refused = browser.post("/portal/apps/stars/review/submit/", {"version": "1.4.0"})
    assert refused.status_code == 422
    assert problem in main_words_of(refused)
    assert not Submission.objects.exists()


def test_checklist_warns_of_events_that_no_scope_allows(browser: Client, stars: App) -> None:
    App.objects.update(webhook_events=["product.created", "order.created"])
    page = page_of(browser, stars)
    assert (
        "Warning: Scopes and events don't match The app's scopes don't allow these events: order.created."
        in page
    )


@pytest.mark.long
def test_checklist_of_an_update_asks_for_a_new_version_number(browser: Client, stars: App) -> None:
    factories.approve(stars)
    update_app(app=stars, changes={"scopes": ["read_products", "read_orders"]})
    page = page_of(browser, stars)
    assert "Not checked: Version 1.4.0 is already approved You submit this one as 1.5.0" in page
    assert "More scopes than before New since the approved version: read_orders." in page
    update_app(app=stars, changes={"version": "1.5.0"})
    assert "OK: Has a new version number" in page_of(browser, stars)


def test_checklist_sees_webhook_and_erasure(
    browser: Client, stars: App, sandbox: Business, django_capture_on_commit_callbacks: Any
) -> None:
    App.objects.update(webhook_url="https://hooks.example.com/stars")
    page = page_of(browser, stars)
    assert "Warning: Hasn't answered a webhook yet" in page
    assert "Not checked: Signature check" in page
    assert "Not checked: No data erasure confirmed yet" in page
    installation = factories.installation(stars, sandbox)
    uninstall(installation=installation)
    HistoryEntry.objects.create(installation=installation, kind=HistoryKind.ERASURE_CONFIRMED, at=NOW)
    assert "OK: Has confirmed a data erasure" in page_of(browser, stars)


# --- Submitting ---------------------------------------------------------------------------------------


def test_submit_page_lists_the_effects(browser: Client, stars: App, sandbox: Business) -> None:
    factories.installation(stars, sandbox)
    page = page_of(browser, stars, "review/submit/")
    assert "You can’t change the app’s manifest" in page
    assert "You can withdraw it until a reviewer starts." in page
    assert "It appears in the marketplace right away" in page
    assert "The test install becomes a production install." in page
    assert "must approve the new scopes" not in page
    assert "Why do you need this?" not in page
    assert "How to test this app" in page


@pytest.mark.long
def test_submit_page_of_an_update_counts_installations_that_must_approve(
    browser: Client, stars: App, sandbox: Business, shop: Business, mira: User
) -> None:
    factories.approve(stars)
    for business in (shop, factories.business(mira), sandbox):
        factories.installation(stars, business)
    uninstall(installation=factories.installation(stars, factories.business(mira)))
    update_app(app=stars, changes={"scopes": ["read_orders"], "version": "1.5.0"})
    page = page_of(browser, stars, "review/submit/")
    assert "Merchants keep using 1.4.0 until this version is approved." in page
    assert "2 installations must approve the new scopes. Until then, they keep their current scopes." in page
    assert "Every token loses read_products . Merchants don’t need to approve this." in page
    assert "Why do you need this?" in page
    assert "See your orders" in page


def test_submit_page_asks_for_no_reason_when_scopes_shrink(
    browser: Client, stars: App, shop: Business
) -> None:
    factories.approve(stars, scopes=["read_products", "read_orders"])
    factories.installation(stars, shop)
    App.objects.update(status="DRAFT")
    page = page_of(browser, stars, "review/submit/")
    assert "Why do you need this?" not in page
    assert "must approve the new scopes" not in page


def save_hooks(app: App, *points: str) -> None:
    document = {"hooks": [{"hookPoint": each, "url": "hooks"} for each in points]}
    save_manifest(app=app, developer=app.developer, document=document)


@pytest.mark.long
@pytest.mark.parametrize(
    ("approved", "changes", "hooks", "suggested"),
    [
        ("1.4.0", {"description": "Stars for all."}, ("order.validate",), "1.4.1"),
        ("1.4.0", {"scopes": ["read_products", "read_orders"]}, ("order.validate",), "1.5.0"),
        ("1.4.0", {}, ("order.validate", "order.calculate_discounts"), "1.5.0"),
        ("1.4.0", {}, (), "2.0.0"),
        ("0.9.9", {}, (), "0.10.0"),
        ("1.9.10-beta.2", {"description": "Stars for all."}, ("order.validate",), "1.9.11"),
        ("1.4.0", {"version": "1.4.0-rc.1", "scopes": ["read_orders"]}, ("order.validate",), "1.4.0-rc.1"),
    ],
)
def test_next_version_is_suggested_by_what_changed(
    browser: Client,
    stars: App,
    approved: str,
    changes: dict[str, Any],
    hooks: tuple[str, ...],
    suggested: str,
) -> None:
    update_app(app=stars, changes={"version": approved, "webhook_url": "https://stars.example.com/in"})
    save_hooks(stars, "order.validate")
    stars.refresh_from_db()
    reviews.approve(submission=factories.submit(stars), reviewer=factories.reviewer())
    App.objects.update(live_saves=False)
    stars.refresh_from_db()
    if changes:
        update_app(app=stars, changes=changes)
    save_hooks(stars, *hooks)
    form = form_at(browser, "/portal/apps/stars/review/submit/")
    assert dict(form.fields)["version"] == suggested


@pytest.mark.long
def test_version_that_is_entered_is_submitted(browser: Client, stars: App) -> None:
    factories.approve(stars)
    update_app(app=stars, changes={"description": "Stars for everybody who comes back."})
    form = form_at(browser, "/portal/apps/stars/review/submit/")
    wrong: Any = send(browser, form, version="two")
    assert wrong.status_code == 422
    assert "such as 1.4.0" in main_words_of(wrong)
    assert send(browser, form, version="2.0.0").status_code == 302
    stars.refresh_from_db()
    assert (stars.version, stars.submissions.get(status="PENDING_REVIEW").version) == ("2.0.0", "2.0.0")


@pytest.mark.spec("States/App status", "Submitting makes the app PENDING_REVIEW")
def test_submit_puts_the_app_into_the_queue(browser: Client, dana: User, stars: App) -> None:
    for hours in (3, 2):
        factories.submit(factories.app(dana), submitted_at=timezone.now() - timedelta(hours=hours))
    response = browser.post(
        "/portal/apps/stars/review/submit/",
        {"version": "1.4.0", "how_to_test": "Buy two.\r\nThen one."},
        follow=True,
    )
    assert response.redirect_chain == [("/portal/apps/stars/review/", 302)]
    page = main_words_of(response)
    assert "Submitted for review." in page
    assert "Place in the queue 1 of 3" in page  # it asks for more than the others
    assert "How to test this app Buy two. Then one." in page
    assert "Before you submit" not in page
    stars.refresh_from_db()
    assert stars.status == "PENDING_REVIEW"
    assert Submission.objects.get(app=stars).how_to_test == "Buy two.\nThen one."


def test_submit_with_a_reason_keeps_it(browser: Client, stars: App) -> None:
    factories.approve(stars)
    update_app(app=stars, changes={"scopes": ["read_products", "read_orders"]})
    browser.post("/portal/apps/stars/review/submit/", {"version": "1.5.0", "scope_reason": "To count stars."})
    assert stars.submissions.get(status="PENDING_REVIEW").scope_reason == "To count stars."


def test_submit_with_too_long_a_text_shows_it_beside_the_field(browser: Client, stars: App) -> None:
    response = browser.post(
        "/portal/apps/stars/review/submit/", {"version": "1.4.0", "how_to_test": "x" * 4001}
    )
    assert response.status_code == 422
    assert "There is a problem" in main_words_of(response)
    assert "x" * 4001 in response.content.decode()
    assert not Submission.objects.exists()


@pytest.mark.parametrize("status", ["PENDING_REVIEW", "APPROVED"])
def test_submit_in_another_state_changes_nothing(browser: Client, stars: App, status: str) -> None:
    App.objects.update(status=status)
    response = browser.post("/portal/apps/stars/review/submit/", {})
    assert response["Location"] == "/portal/apps/stars/review/"
    assert not Submission.objects.exists()


def test_texts_of_a_rejected_submission_are_filled_in(browser: Client, stars: App, rita: User) -> None:
    factories.approve(stars)
    update_app(app=stars, changes={"scopes": ["read_products", "read_orders"]})
    submission = reviews.submit(
        app=stars, developer=stars.developer, how_to_test="Buy two.", scope_reason="To count."
    )
    reviews.reject(submission=submission, reviewer=rita, notes="No.")
    page = page_of(browser, stars, "review/submit/")
    assert "Buy two." in page
    assert "To count." in page


# --- Waiting and withdrawing --------------------------------------------------------------------------


@pytest.mark.long
def test_page_of_a_held_submission_has_no_withdraw(browser: Client, stars: App, rita: User) -> None:
    reviews.take(submission=factories.submit(stars), reviewer=rita, now=NOW)
    page = page_of(browser, stars)
    assert "With a reviewer Since 20 Nov 2026, 15:31:08 UTC . You can’t withdraw it any more." in page
    assert "Place in the queue" not in page
    assert "Withdraw" not in page
    assert rita.name not in page
    assert browser.get("/portal/apps/stars/review/withdraw/").status_code == 302
    response = browser.post("/portal/apps/stars/review/withdraw/", follow=True)
    assert "A reviewer has started on the submission" in main_words_of(response)
    assert Submission.objects.get().status == "PENDING_REVIEW"


@pytest.mark.spec("Contract 9 Apps", "A submission can be withdrawn while no reviewer holds it")
def test_withdraw_asks_first(browser: Client, stars: App) -> None:
    factories.submit(stars)
    page = page_of(browser, stars, "review/withdraw/")
    assert "It loses its place in the queue (1 of 1)." in page
    response = browser.post("/portal/apps/stars/review/withdraw/", follow=True)
    assert "Withdrawn. The app is a draft again." in main_words_of(response)
    stars.refresh_from_db()
    assert stars.status == "DRAFT"


def test_withdraw_of_a_draft_is_refused(browser: Client, stars: App) -> None:
    assert browser.get("/portal/apps/stars/review/withdraw/").status_code == 302
    response = browser.post("/portal/apps/stars/review/withdraw/", follow=True)
    assert "The app is not in review." in main_words_of(response)


# --- Decided ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("States/App status", "Rejection: DRAFT with the reviewer's notes; edit and resubmit")
def test_rejection_shows_notes_on_the_page_and_a_mark_in_the_list(
    browser: Client, stars: App, rita: User
) -> None:
    reviews.reject(
        submission=factories.submit(
            stars, findings={"security": {"verdict": "FAIL", "note": "A bad one got 200."}}
        ),
        reviewer=rita,
        notes="Check <signatures>.",
        now=NOW,
    )
    page = page_of(browser, stars)
    assert "Changes requested A reviewer rejected version 1.4.0 on 20 Nov 2026, 15:31:08 UTC" in page
    assert "Security A bad one got 200." in page
    assert "Check <signatures>." in page
    assert "Before you submit" in page
    assert "Changes requested" in main_words_of(browser.get("/portal/"))
    reviews.submit(app=stars, developer=stars.developer)
    assert "Changes requested" not in main_words_of(browser.get("/portal/"))


def test_approval_shows_version_date_and_scopes(browser: Client, stars: App, rita: User) -> None:
    reviews.approve(submission=factories.submit(stars), reviewer=rita, notes="Neat.", now=NOW)
    response = browser.get("/portal/apps/stars/review/")
    assert 'href="/marketplace/stars/"' in response.content.decode()
    page = main_words_of(response)
    assert "Version 1.4.0 Approved 20 Nov 2026, 15:31:08 UTC" in page
    assert "See your products, their prices and stock read_products" in page
    assert "Neat." in page
    assert "Submit for review" not in page


def test_suspension_shows_its_reason(browser: Client, stars: App, rita: User) -> None:
    factories.approve(stars)
    reviews.suspend(app=stars, reviewer=rita, reason="Sold data.", now=NOW)
    page = page_of(browser, stars)
    assert "Since 20 Nov 2026, 15:31:08 UTC . The app isn't in the marketplace" in page
    assert "Sold data." in page


def test_submissions_are_listed_newest_first_on_pages(browser: Client, stars: App) -> None:
    for number in range(21):
        factories.submit(
            stars, status="REJECTED", version=f"1.0.{number}", notes=f"Note {number}.", decided_at=NOW
        )
    App.objects.update(status="DRAFT")
    page = page_of(browser, stars)
    assert page.index("Note 20.") < page.index("Note 1.")
    assert "Note 0." not in page
    assert "Note 0." in page_of(browser, stars, "review/?page=2")


@pytest.mark.parametrize("count", [1, 3])
def test_review_page_reads_as_many_rows_in_as_many_statements(
    browser: Client, stars: App, count: int, django_assert_num_queries: Any
) -> None:
    for _ in range(count):
        factories.submit(stars, status="REJECTED")
    App.objects.update(status="DRAFT")
    with django_assert_num_queries(10):
        browser.get("/portal/apps/stars/review/")


# --- Versions -----------------------------------------------------------------------------------------


def test_versions_before_the_first_approval(browser: Client, stars: App) -> None:
    assert "No approved version yet" in page_of(browser, stars, "versions/")


@pytest.mark.long
@pytest.mark.spec("Contract 2 Status", "Every approved version is kept, and the portal shows what changed")
def test_versions_show_who_when_and_what_changed(browser: Client, stars: App, rita: User) -> None:
    reviews.approve(submission=factories.submit(stars), reviewer=rita, now=NOW)
    stars = update_app(
        app=App.objects.get(),
        changes={
            "name": "Loyalty <Suns>",
            "version": "2.0.0",
            "scopes": ["read_orders"],
            "webhook_url": "https://hooks.example.com/stars",
            "icon": decode(upload()),
        },
    )
    second = reviews.submit(app=stars, developer=stars.developer, scope_reason="To count orders.")
    reviews.approve(submission=second, reviewer=rita, now=NOW + timedelta(days=1))
    update_app(app=App.objects.get(), changes={"description": "Suns for regulars."})
    response = browser.get("/portal/apps/stars/versions/")
    page = main_words_of(response)
    for line in (
        "2.0.0 Draft Compared with version 2.0.0, which merchants use",
        "Description Was: Does one thing well. Now: Suns for regulars.",
        "2.0.0 Live Approved 21 Nov 2026, 15:31:08 UTC by Rita",
        "Name Was: Loyalty Stars Now: Loyalty <Suns>",
        "Scopes Removed: read_products Added: read_orders",
        "Webhook URL Now: https://hooks.example.com/stars",
        "Version Was: 1.4.0 Now: 2.0.0",
        "Why it needs more scopes: To count orders.",
        "1.4.0 Approved 20 Nov 2026, 15:31:08 UTC by Rita",
        "First version, with 1 scope Name Loyalty Stars",
    ):
        assert line in page
    icon = Picture.objects.get()
    assert f'<img src="/media/pictures/{icon.id}" alt="Icon 1, added"' in response.content.decode()


def test_versions_show_how_many_have_approved(
    browser: Client, stars: App, shop: Business, mira: User, sandbox: Business
) -> None:
    version = factories.approve(stars)
    assert "We're updating installations" in page_of(browser, stars, "versions/")
    AppVersion.objects.update(followed_at=NOW)
    factories.installation(stars, shop)
    assert "haven't approved" not in page_of(browser, stars, "versions/")
    factories.installation(stars, factories.business(mira), needs_reconsent=True)
    factories.installation(stars, factories.business(mira), needs_reconsent=True, reconsent_declined_at=NOW)
    factories.installation(stars, sandbox, needs_reconsent=True)
    page = page_of(browser, stars, "versions/")
    assert "Of 3 installations, 1 has approved them and 1 has not answered yet." in page
    assert "1 declined and keeps its current scopes." in page
    assert version.number == 1


@pytest.mark.long
def test_versions_have_pages_that_compare_across_their_edge(browser: Client, stars: App) -> None:
    for number in range(12):
        factories.approve(stars, version=f"1.0.{number}")
    page = page_of(browser, stars, "versions/")
    assert "Was: 1.0.1 Now: 1.0.2" in page
    assert "Was: 1.0.0 Now: 1.0.1" not in page
    older = page_of(browser, stars, "versions/?page=2")
    assert "Was: 1.0.0 Now: 1.0.1" in older
    assert "First version" in older


@pytest.mark.parametrize("count", [1, 3])
def test_versions_page_reads_as_many_rows_in_as_many_statements(
    browser: Client, stars: App, count: int, django_assert_num_queries: Any
) -> None:
    for number in range(count):
        factories.approve(stars, version=f"1.0.{number}")
    with django_assert_num_queries(10):
        browser.get("/portal/apps/stars/versions/")


def test_list_and_overview_show_the_live_version_and_the_draft(browser: Client, stars: App) -> None:
    factories.approve(stars)
    update_app(app=stars, changes={"version": "1.5.0"})
    assert "Live 1.4.0 Draft 1.5.0" in main_words_of(browser.get("/portal/"))
    assert "Live 1.4.0, draft 1.5.0" in words_of(browser.get("/portal/apps/stars/"))
    assert Installation.objects.count() == 0
