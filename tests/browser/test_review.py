"""Reviewing in the admin: with the mouse, by keyboard, with few presses."""

import re

import pytest
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from accounts.services import create_reviewer
from developers.review import check_runs
from marketplace.models import App, Submission
from marketplace.services import reviews
from tests import factories

from .conftest import PHONE, NewPage, SignIn

QUEUE = "/admin/marketplace/submission/"
CRITERIA = ("Functionality", "Security", "Scope appropriateness", "Quality", "Policy compliance")


@pytest.fixture
def rae(db: None) -> User:
    return create_reviewer(email="rae@example.com", name="Rae Ito")


@pytest.fixture
def rounds(dana: User, rae: User, sandbox: Business) -> dict[str, Submission]:
    """One decided, then an update of the same app with more scopes, then another app's."""
    stars = factories.app(dana, name="Loyalty Stars", slug="stars", scopes=["read_products"], version="1.0.0")
    factories.installation(stars, sandbox)
    decided = reviews.submit(app=stars, developer=dana)
    reviews.approve(submission=decided, reviewer=rae)
    App.objects.filter(pk=stars.pk).update(
        status="DRAFT", scopes=["read_products", "read_orders"], version="1.1.0", name="Loyalty Stars Pro"
    )
    stars.refresh_from_db()
    update = reviews.submit(
        app=stars, developer=dana, how_to_test="Order something.", scope_reason="Stars for orders."
    )
    other = factories.app(
        dana, name="A name that goes on and on, as long as eighty characters will allow it to be"
    )
    return {"decided": decided, "update": update, "next": reviews.submit(app=other, developer=dana)}


@pytest.fixture
def admin(new_page: NewPage, sign_in: SignIn, rae: User, rounds: dict[str, Submission]) -> NewPage:
    """Opens a page of the admin as Rae."""

    def make(path: str, **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, rae)
        page.goto(path.format(**rounds))
        return page

    return make


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec(
    "Contract 7 Pages", "A reviewer approves with eight presses: open, five criteria, approve, confirm"
)
@pytest.mark.parametrize("scripted", [True, False])
def test_a_review_takes_eight_presses(admin: NewPage, rounds: dict[str, Submission], scripted: bool) -> None:
    page = admin(QUEUE, java_script_enabled=scripted)
    presses = [page.get_by_role("button", name="Start review of Loyalty Stars Pro")]
    for criterion in CRITERIA:
        group = page.get_by_role("group", name=criterion)
        presses.append(group.get_by_label("Pass", exact=True))
    presses.append(page.get_by_role("button", name="Approve", exact=True))
    presses.append(page.get_by_role("button", name="Approve", exact=True))
    assert len(presses) <= 8
    check_runs.run_due_checks()  # as the worker does, before anybody opens the submission
    for number, press in enumerate(presses):
        expect(press).to_be_in_viewport()  # without scrolling
        press.click()
        if number == 0:
            expect(page.get_by_role("region", name="Automatic checks")).to_contain_text("Behavior")
    expect(page.get_by_role("complementary")).to_contain_text("Approved by Rae Ito")
    page.get_by_role("button", name="Review next").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("A name that goes on")
    expect(page.get_by_role("complementary")).to_contain_text("You started this review")
    update = Submission.objects.get(pk=rounds["update"].pk)
    assert update.status == "APPROVED"
    assert [finding["verdict"] for finding in update.findings.values()] == ["PASS"] * 5
    assert Submission.objects.get(pk=rounds["next"].pk).reviewer == update.reviewer


def test_a_rejection_with_a_common_reason(admin: NewPage, rounds: dict[str, Submission]) -> None:
    page = admin(f"{QUEUE}{{update.pk}}/change/")
    page.get_by_role("group", name="Security").get_by_label("Fail").check()
    page.get_by_label("Note for the developer on security").fill("An old signature got 200.")
    page.get_by_role("button", name="Reject").click()
    page.get_by_text("Common reasons").click()
    page.get_by_label("Use a square icon").check()
    page.get_by_role("button", name="Preview e-mail").click()
    expect(page.locator(".review-mail")).to_contain_text("An old signature got 200.")
    expect(page.locator(".review-mail")).to_contain_text("Use a square icon of at least 256 pixels.")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("complementary")).to_contain_text("Rejected by Rae Ito")
    assert Submission.objects.get(pk=rounds["update"].pk).notes == "Use a square icon of at least 256 pixels."


def test_keyboard_judges_and_approves(admin: NewPage, rounds: dict[str, Submission]) -> None:
    page = admin(f"{QUEUE}{{update.pk}}/change/")
    page.get_by_role("button", name="Start review").focus()
    for _ in CRITERIA:
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/approve/$"))
    page.get_by_role("button", name="Approve", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary")).to_contain_text("Approved by Rae Ito")
    assert Submission.objects.get(pk=rounds["update"].pk).findings["policy"]["verdict"] == "PASS"


def test_what_was_judged_is_seen_in_forced_colors(admin: NewPage) -> None:
    page = admin(f"{QUEUE}{{update.pk}}/change/", forced_colors="active")
    group = page.get_by_role("group", name="Security")
    group.get_by_text("Pass", exact=True).click()
    expect(group.get_by_label("Pass", exact=True)).to_be_checked()
    looks = [
        group.get_by_text(name, exact=True).evaluate("each => getComputedStyle(each).backgroundColor")
        for name in ("Pass", "Fail")
    ]
    assert looks[0] != looks[1]


def test_an_app_is_suspended_and_that_is_lifted(admin: NewPage, rounds: dict[str, Submission]) -> None:
    page = admin("/admin/marketplace/app/{update.app.pk}/change/")
    page.get_by_role("link", name="Suspend").click()
    page.get_by_label("Reason").fill("Sends spam.")
    page.get_by_role("button", name="Suspend").click()
    expect(page.locator(".notice.kind-bad")).to_contain_text("Sends spam.")
    page.get_by_role("link", name="Lift suspension").click()
    page.get_by_role("button", name="Lift suspension").click()
    expect(page.get_by_role("link", name="Suspend")).to_be_visible()


def test_results_of_the_checks_appear_by_themselves(admin: NewPage, rounds: dict[str, Submission]) -> None:
    page = admin(f"{QUEUE}{{update.pk}}/change/")
    checks = page.get_by_role("region", name="Automatic checks")
    expect(checks).to_contain_text("The checks are running.")
    check_runs.run_due_checks(submission_id=rounds["update"].pk)
    expect(checks).to_contain_text("No icon.")
    expect(checks).not_to_contain_text("The checks are running.")


@pytest.mark.parametrize(
    ("look", "first_row", "row"), [({}, 240, 64), (PHONE, 300, 120)], ids=["desktop", "phone"]
)
def test_queue_shows_many_submissions_at_once(
    admin: NewPage, look: dict[str, object], first_row: int, row: int
) -> None:
    """With all that a row may have, of names of a usual length."""
    App.objects.filter(name__startswith="A name").update(name="Table Cards")
    Submission.objects.filter(status="PENDING_REVIEW").update(
        risk_reasons=[
            {"weight": 4, "text": "New script"}, {"weight": 3, "text": "New hook"}, {"weight": 2, "text": "Sensitive scopes"}, {"weight": 2, "text": "First app"}
        ]
    )  # fmt: skip
    page = admin(QUEUE, **look)
    rows = page.locator(".queue tbody tr")
    expect(rows).to_have_count(2)
    boxes = [each for each in (row.bounding_box() for row in rows.all()) if each]
    assert boxes[0]["y"] <= first_row
    assert max(each["height"] for each in boxes) <= row
    icon = page.locator(".queue .app-icon").first.bounding_box()
    assert icon
    assert (icon["width"], icon["height"]) == (24, 24)


def test_filters_of_apps_are_chips_on_one_line(admin: NewPage) -> None:
    page = admin("/admin/marketplace/app/")
    chips = page.locator(".queue-bar > *")
    assert len({round(each.bounding_box()["y"]) for each in chips.all()}) == 1  # type: ignore[index]
    page.locator(".chip summary").get_by_text("Status").click()
    page.get_by_role("link", name="Draft", exact=True).click()
    page.wait_for_url("**status__exact=DRAFT**")
    expect(page.locator(".chip strong").get_by_text("Draft")).to_be_visible()
