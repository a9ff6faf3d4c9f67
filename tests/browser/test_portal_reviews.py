"""An app's way through review, as a developer walks it (ux journey c)."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import update_app
from marketplace.services.findings import record_findings
from marketplace.services.pictures import decode
from tests import factories
from tests.pictures import upload

from .conftest import NewPage, SignIn


@pytest.fixture
def portal(new_page: NewPage, sign_in: SignIn, dana: User) -> NewPage:
    """Makes a page of the portal that Dana sees."""

    def make(path: str, **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, dana)
        page.goto(path)
        return page

    return make


@pytest.fixture
def stars(dana: User, sandbox: Business) -> App:
    """An app whose checks are green."""
    app = factories.app(
        dana,
        name="Loyalty Stars",
        slug="stars",
        description="A star for every order, a treat for ten.",
        privacy_url="https://a.example.com/privacy",
        support_url="https://a.example.com/help",
        data_countries=["DE"],
    )
    factories.installation(app, sandbox, last_used_at=timezone.now())
    return update_app(app=app, changes={"icon": decode(upload()), "screenshots": [decode(upload())]})


@pytest.fixture
def pages(dana: User, stars: App) -> list[str]:
    """Every state of the pages: green, to do, in review, rejected beside a live version, approved."""
    rita = factories.reviewer()
    new = factories.app(dana, slug="new", webhook_url="http://127.0.0.1/hooks")
    waiting = factories.app(dana, slug="waiting")
    reviews.submit(app=waiting, developer=dana, how_to_test="Press it.")
    rejected = factories.app(dana, slug="rejected", scopes=["read_products"])
    factories.approve(rejected)
    rejected = update_app(
        app=rejected,
        changes={"version": "2.0.0-" + "a" * 58, "scopes": ["read_orders"], "icon": decode(upload())},
    )
    submission = reviews.submit(app=rejected, developer=dana)
    findings = {"security": {"verdict": "FAIL", "note": "A bad signature got 200."}}
    record_findings(submission=submission, reviewer=rita, findings=findings)
    reviews.reject(submission=submission, reviewer=rita, notes="x" * 200)
    factories.approve(factories.app(dana, slug="approved"))
    paths = [f"{app}/review/" for app in ("stars", new.slug, "waiting", "rejected", "approved")]
    paths += ["rejected/review/submit/", "waiting/review/withdraw/", "rejected/versions/", "stars/versions/"]
    return ["/portal/", *(f"/portal/apps/{path}" for path in paths), "/portal/apps/rejected/"]


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.parametrize("script", [True, False])
def test_submitting_takes_two_presses(portal: NewPage, stars: App, script: bool) -> None:
    page = portal("/portal/apps/stars/review/", java_script_enabled=script)
    expect(page.get_by_text("All checks passed.")).to_be_visible()
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_role("heading", name="While it is in review")).to_be_visible()
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_text("Place in the queue")).to_be_visible()
    stars.refresh_from_db()
    assert stars.status == "PENDING_REVIEW"


def test_withdrawing_takes_two_presses(portal: NewPage, stars: App) -> None:
    factories.submit(stars)
    page = portal("/portal/apps/stars/review/")
    page.get_by_role("link", name="Withdraw").click()
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("The app is a draft again.")).to_be_visible()
    expect(page.get_by_role("button", name="Submit for review")).to_be_visible()


def test_rejected_app_is_mended_and_submitted_again(portal: NewPage, stars: App) -> None:
    reviews.reject(submission=factories.submit(stars), reviewer=factories.reviewer(), notes="Say more.")
    page = portal("/portal/")
    page.get_by_role("link", name="Changes requested").click()
    expect(page.get_by_text("Say more.")).to_be_visible()
    page.get_by_role("button", name="Submit for review").click()
    page.get_by_label("How to test this app").fill("Buy two.")
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_text("Buy two.")).to_be_visible()
    expect(page.get_by_text("Say more.")).to_be_visible()
