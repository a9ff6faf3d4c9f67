"""The review queue, the page of a submission, and access to them."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from developers.review.reviewers import MAY_REVIEW, MAY_SUSPEND
from marketplace.models import App, ReviewEntry, Submission
from marketplace.services import releases, reviews
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from tests import factories
from tests.developers.review.reviewing import JUDGED, QUEUE, client_of, messages_of, page_of, submitted
from tests.pictures import picture, upload

PAGES = "Contract 7 Pages"


# Access


@pytest.mark.long
@pytest.mark.spec(
    "Contract 1 Accounts", "A reviewer gets to the review queue, apps and their log, and nothing else"
)
def test_reviewer_has_only_these_permissions(
    admin: Client, rae: User, stars: App, mira: User, shop: Business
) -> None:
    submission = submitted(stars)
    entry = ReviewEntry.objects.get()
    seen = ["/admin/", QUEUE, page_of(submission), "/admin/marketplace/app/", page_of(stars)]
    seen += ["/admin/marketplace/reviewentry/", f"/admin/marketplace/reviewentry/{entry.pk}/change/"]
    for path in seen:
        assert admin.get(path).status_code == 200, path
    others = ["accounts/user", "accounts/business", "stores/order", "stores/product", "webhooks/webhook"]
    others += ["webhooks/delivery", "webhooks/erasure", "auth/group"]
    for path in others:
        assert admin.get(f"/admin/{path}/").status_code == 403, path
    assert admin.get(f"/admin/accounts/user/{mira.pk}/change/").status_code == 403
    assert {app["app_label"] for app in admin.get("/admin/").context["app_list"]} == {"marketplace"}


@pytest.mark.long
@pytest.mark.spec(PAGES, "The admin is closed to developers, merchants and visitors without a session")
@pytest.mark.parametrize("who", ["dana", "mira", "visitor"])
def test_others_are_sent_to_sign_in(who: str, stars: App, mira: User) -> None:
    submission = submitted(stars)
    visitor = Client()
    if who != "visitor":
        visitor.force_login(User.objects.get(email=f"{who}@example.com"))
    paths = [QUEUE, page_of(stars), page_of(stars, "suspend")]
    paths += [page_of(submission, act) for act in ("change", "take", "findings", "approve", "reject")]
    for path in paths:
        for response in (visitor.get(path), visitor.post(path, JUDGED)):
            assert response.status_code == 302, path
            assert response["Location"].startswith(("/admin/login/?next=", "/accounts/login/?next=")), path
    submission.refresh_from_db()
    assert (submission.reviewer, submission.findings) == (None, {})


@pytest.mark.long
def test_staff_without_permissions_is_refused(stars: App, sam: User) -> None:
    submission = submitted(stars)
    User.objects.filter(pk=sam.pk).update(is_staff=True)
    sam.refresh_from_db()
    clerk = client_of(sam)
    for act in ("change", "take", "findings", "approve", "reject"):
        assert clerk.post(page_of(submission, act)).status_code == 403, act
    for act in ("suspend", "reinstate"):
        assert clerk.post(page_of(stars, act)).status_code == 403, act
    sam.user_permissions.add(Permission.objects.get(codename="view_submission"))
    page = client_of(User.objects.get(pk=sam.pk)).get(page_of(submission))
    assert page.status_code == 200
    assert "Approve" not in page.text
    assert "Start review" not in page.text


@pytest.mark.long
def test_group_is_restored_after_migrations(db: None) -> None:
    group = Group.objects.get(name="Reviewers")
    extra = Permission.objects.get(codename="view_erasure")
    group.permissions.set([extra])
    call_command("migrate", verbosity=0)
    group.refresh_from_db()
    names = set(group.permissions.values_list("codename", flat=True))
    assert {"view_erasure", "view_submission", "change_submission", "change_app"} <= names
    assert Group.objects.filter(name="Reviewers").count() == 1


@pytest.mark.long
def test_reviewer_added_in_the_admin_may_review(stars: App) -> None:
    boss = client_of(User.objects.create_superuser("ada@example.com"))
    body = {"email": "rui@example.com", "name": "Rui", "usable_password": "false"}
    assert boss.post("/admin/accounts/user/add/", body).status_code == 302
    submission = submitted(stars)
    rui = client_of(User.objects.get(email="rui@example.com"))
    assert rui.post(page_of(submission, "take")).status_code == 302
    submission.refresh_from_db()
    assert submission.reviewer is not None
    assert submission.reviewer.name == "Rui"


# The queue


@pytest.mark.long
@pytest.mark.spec(PAGES, "The review queue shows waiting submissions in order of risk, with reasons")
def test_queue_shows_waiting_submissions_in_order_of_risk(
    admin: Client, stars: App, dana: User, sam: User
) -> None:
    now = timezone.now()
    till = factories.app(sam, name="Till Bridge", scopes=["read_products"])
    factories.approve(till)
    till.scopes, till.status = ["read_products", "write_orders"], "DRAFT"
    till.save()
    wall = factories.app(sam, name="Review Wall")
    factories.approve(wall)
    App.objects.filter(pk=wall.pk).update(status="DRAFT")
    wall.refresh_from_db()
    submitted(stars, now=now - timedelta(hours=1))
    submitted(till, now=now + timedelta(hours=1))
    submitted(wall, now=now + timedelta(hours=2))
    page = admin.get(QUEUE)
    rows = page.context["cl"].result_list
    assert [row.app.name for row in rows] == ["Loyalty Stars", "Till Bridge", "Review Wall"]
    text = page.text
    for part in (
        "New app",
        "More scopes",
        "Update",
        "Dana",
        "1.4.0",
        "Running",
        "First app",
        "Sensitive",
        "write_orders",
    ):
        assert part in text
    assert text.index("Loyalty Stars") < text.index("Till Bridge") < text.index("Review Wall")


@pytest.mark.long
def test_queue_has_tabs(admin: Client, stars: App, sam: User, rae: User) -> None:
    held = submitted(factories.app(sam, name="Held One"))
    reviews.take(submission=held, reviewer=rae)
    decided = submitted(factories.app(sam, name="Done One"))
    reviews.reject(submission=decided, reviewer=rae, notes="No.")
    submitted(stars)
    for state, name in (("waiting", "Loyalty Stars"), ("held", "Held One"), ("decided", "Done One")):
        page = admin.get(QUEUE, {"state": state})
        assert [row.app.name for row in page.context["cl"].result_list] == [name]
    assert "Rae Ito" in admin.get(QUEUE, {"state": "held"}).text
    assert "Rejected by Rae Ito" in " ".join(admin.get(QUEUE, {"state": "decided"}).text.split())
    nonsense = admin.get(QUEUE, {"state": "lost"})
    assert [row.app.name for row in nonsense.context["cl"].result_list] == ["Loyalty Stars"]


@pytest.mark.long
def test_queue_is_searched(admin: Client, stars: App, sam: User) -> None:
    submitted(stars)
    submitted(factories.app(sam, name="Till Bridge"))
    for query in ("stars", "dana@example", "Dana"):
        assert [row.app for row in admin.get(QUEUE, {"q": query}).context["cl"].result_list] == [stars]
    assert "No submission matches “nowhere”" in admin.get(QUEUE, {"q": "nowhere"}).text
    kept = '<input type="hidden" name="state" value="decided">'
    assert kept in admin.get(QUEUE, {"q": "stars", "state": "decided"}).text


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("waiting", "No submissions are waiting for review."),
        ("held", "No submissions are in review."),
        ("decided", "No submissions have been decided yet."),
    ],
)
def test_empty_queue_shows_a_message(admin: Client, state: str, message: str) -> None:
    assert message in admin.get(QUEUE, {"state": state}).text


@pytest.mark.long
@pytest.mark.parametrize("number", [1, 3])
def test_queue_reads_any_number_of_rows_in_as_many_statements(
    number: int, admin: Client, sam: User, django_assert_max_num_queries: Any
) -> None:
    for _ in range(number):
        submitted(factories.app(sam))
    admin.get(QUEUE)
    with django_assert_max_num_queries(9):
        assert len(admin.get(QUEUE).context["cl"].result_list) == number


def test_home_page_links_to_waiting_submissions(admin: Client, stars: App) -> None:
    assert "No submissions are waiting for review." in admin.get("/admin/").text
    submission = submitted(stars)
    page = admin.get("/admin/")
    assert f'href="{page_of(submission)}"' in page.text
    assert "Loyalty Stars 1.4.0" in page.text


# The page


@pytest.mark.long
@pytest.mark.spec(
    PAGES, "The review page shows what changed since the last approval, and the scope difference"
)
def test_page_of_an_update_shows_the_differences(admin: Client, stars: App) -> None:
    factories.approve(stars, scopes=["read_products", "read_pages"], version="1.3.0", name="Star Cards")
    App.objects.filter(pk=stars.pk).update(status="DRAFT")
    stars.refresh_from_db()
    page = admin.get(page_of(submitted(stars, scope_reason="To give stars for orders.")))
    text = page.text
    assert "Since version 1.3.0" in text
    assert "Star Cards" in text
    assert "To give stars for orders." in text
    changes = {requested.scope.name: requested.change for requested in page.context["scopes"]}
    assert changes == {"read_products": "kept", "read_orders": "added", "read_pages": "removed"}
    assert "Names and contact details of customers" in text


@pytest.mark.long
@pytest.mark.spec(
    PAGES, "A decided update is compared with what stores ran before, not with a version that was taken back"
)
def test_page_of_an_update_after_a_version_was_taken_back(admin: Client, stars: App) -> None:
    factories.approve(stars, scopes=["read_products"], version="1.3.0")
    factories.approve(stars, scopes=["read_products", "read_pages"], version="1.4.0")
    releases.take_back(app=stars, by=stars.developer)
    App.objects.filter(pk=stars.pk).update(status="DRAFT")
    stars.refresh_from_db()
    factories.approve(stars, version="1.5.0")
    page = admin.get(page_of(stars.submissions.get(approved_version__version="1.5.0")))
    assert "Since version 1.3.0" in page.text


@pytest.mark.long
def test_page_of_a_first_version(admin: Client, stars: App) -> None:
    shown = [decode(upload(picture(size=(800, 500))))]
    update_app(app=stars, changes={"icon": decode(upload()), "screenshots": shown})
    stars.refresh_from_db()
    text = admin.get(page_of(submitted(stars, how_to_test="Sign in as kim, then order."))).text
    assert "everything is new" in text
    assert "Sign in as kim, then order." in text
    assert "See your orders with your customers" in text
    assert stars.icon_path in text
    assert f"/media/pictures/{stars.screenshot_ids[0]}" in text
    assert stars.client_secret not in text


@pytest.mark.long
def test_page_escapes_what_the_developer_wrote(admin: Client, sam: User) -> None:
    app = factories.app(sam, name="<b>Bold</b>", description="<script>alert(1)</script>")
    text = admin.get(page_of(submitted(app, how_to_test="<i>x</i>"))).text
    for raw in ("<b>Bold", "<script>alert", "<i>x"):
        assert raw not in text


@pytest.mark.long
def test_page_shows_earlier_submissions_and_the_log(admin: Client, stars: App, rae: User) -> None:
    first = submitted(stars)
    reviews.reject(submission=first, reviewer=rae, notes="Add screenshots.")
    stars.refresh_from_db()
    page = admin.get(page_of(submitted(stars)))
    assert [each.pk for each in page.context["earlier"]] == [first.pk]
    assert "Add screenshots." in page.text
    assert [entry.kind for entry in page.context["log"]] == ["SUBMITTED", "REJECTED", "SUBMITTED"]
    earlier = admin.get(page_of(first))
    assert "may have edited the app since this submission" in earlier.text
    assert "Save" not in earlier.text


def test_page_of_an_unknown_submission_is_404(admin: Client, stars: App) -> None:
    for unknown in ("nonsense", "018f0000-0000-7000-8000-000000000000"):
        response = admin.get(f"{QUEUE}{unknown}/change/", headers={"accept": "text/html"})
        assert response.status_code == 404


# Holding and judging


@pytest.mark.long
@pytest.mark.spec(PAGES, "A reviewer holds a submission and releases it; other reviewers see who holds it")
def test_start_review_and_release(admin: Client, rae: User, otto: User, stars: App) -> None:
    submission = submitted(stars)
    assert admin.get(page_of(submission)).status_code == 200
    submission.refresh_from_db()
    assert submission.reviewer is None
    page = admin.post(page_of(submission, "take"), follow=True)
    assert "You started this review" in page.text
    theirs = client_of(otto)
    text = theirs.get(page_of(submission)).text
    assert "Rae Ito is reviewing this submission" in text
    assert "Run checks" not in text
    for act, body in (("take", {}), ("release", {}), ("findings", JUDGED), ("approve", {}), ("reject", {})):
        refused = theirs.post(page_of(submission, act), body, follow=True)
        assert refused.redirect_chain[-1][0] == page_of(submission)
        assert any("Rae Ito" in message for message in messages_of(refused)), act
    submission.refresh_from_db()
    assert (submission.reviewer, submission.findings, submission.status) == (rae, {}, "PENDING_REVIEW")
    page = admin.post(page_of(submission, "release"), follow=True)
    assert "No reviewer holds this submission." in page.text
    assert theirs.post(page_of(submission, "take")).status_code == 302
    submission.refresh_from_db()
    assert submission.reviewer == otto


@pytest.mark.long
def test_administrator_releases_a_submission_that_a_reviewer_holds(stars: App, rae: User) -> None:
    submission = submitted(stars)
    reviews.take(submission=submission, reviewer=rae)
    boss = client_of(User.objects.create_superuser("ada@example.com"))
    assert "Release" in boss.get(page_of(submission)).text
    boss.post(page_of(submission, "release"))
    submission.refresh_from_db()
    assert submission.reviewer is None


@pytest.mark.long
@pytest.mark.spec(
    "States/App status",
    "A review judges functionality, security, scope appropriateness, quality and policy compliance",
)
def test_findings_are_kept_between_visits(admin: Client, rae: User, stars: App) -> None:
    submission = submitted(stars)
    body = {
        "functionality-verdict": "PASS",
        "security-verdict": "FAIL",
        "security-note": "Accepts stale ones.",
        "quality-note": "Look again at the icon.",
        "save": "",
    }
    page = admin.post(page_of(submission, "findings"), body, follow=True)
    assert messages_of(page) == ["Findings saved."]
    submission.refresh_from_db()
    assert submission.findings == {
        "functionality": {"verdict": "PASS", "note": ""},
        "security": {"verdict": "FAIL", "note": "Accepts stale ones."},
        "quality": {"verdict": "", "note": "Look again at the icon."},
    }
    assert (submission.reviewer, submission.status) == (rae, "PENDING_REVIEW")
    form = admin.get(page_of(submission)).context["form"]
    assert form["security-verdict"].value() == "FAIL"
    assert form["security-note"].value() == "Accepts stale ones."
    for criterion in ("Functionality", "Security", "Scope appropriateness", "Quality", "Policy compliance"):
        assert f"<legend>{criterion}</legend>" in page.text


@pytest.mark.long
def test_invalid_findings_are_not_saved(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    body = {"security-verdict": "MAYBE", "security-note": "x" * 1001, "approve": ""}
    page = admin.post(page_of(submission, "findings"), body)
    assert page.status_code == 422
    assert "Your findings weren't saved." in page.text
    submission.refresh_from_db()
    assert submission.findings == {}


@pytest.mark.parametrize(("right", "opened"), [(MAY_REVIEW, ["take"]), (MAY_SUSPEND, ["suspend"])])
def test_right_to_review_and_right_to_suspend_are_two(
    right: str, opened: list[str], stars: App, sam: User
) -> None:
    pages = {"take": page_of(submitted(stars), "take"), "suspend": page_of(stars, "suspend")}
    User.objects.filter(pk=sam.pk).update(is_staff=True)
    sam.user_permissions.add(Permission.objects.get(codename=right.partition(".")[2]))
    clerk = client_of(User.objects.get(pk=sam.pk))
    assert [act for act, page in pages.items() if clerk.post(page).status_code != 403] == opened


# The log


@pytest.mark.long
@pytest.mark.spec(PAGES, "The review log can't be added to, changed or removed in the admin")
@pytest.mark.parametrize("who", ["reviewer", "superuser"])
def test_log_and_submissions_are_read_only(who: str, rae: User, stars: App) -> None:
    submission = submitted(stars)
    entry = ReviewEntry.objects.get()
    user = rae if who == "reviewer" else User.objects.create_superuser("ada@example.com")
    client = client_of(user)
    rows = {"reviewentry": entry, "submission": submission, "app": stars}
    for model, row in rows.items():
        root = f"/admin/marketplace/{model}/"
        assert client.get(f"{root}add/").status_code == 403
        assert client.post(f"{root}add/", {"kind": "APPROVED"}).status_code == 403
        assert client.post(f"{root}{row.pk}/delete/", {"post": "yes"}).status_code == 403
        delete = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
        client.post(root, delete)
    for model in ("reviewentry", "app"):
        changed = client.post(
            f"/admin/marketplace/{model}/{rows[model].pk}/change/", {"note": "x", "name": "x"}
        )
        assert changed.status_code == 403
    client.post(page_of(submission), {"status": "APPROVED", "notes": "x"})
    before = Submission.objects.values().get()
    assert (before["status"], before["notes"]) == ("PENDING_REVIEW", "")
    assert ReviewEntry.objects.values().get()["note"] == ""
    assert App.objects.filter(pk=stars.pk).exists()
    listed = client.get("/admin/marketplace/reviewentry/", {"q": "stars"})
    assert listed.status_code == 200
    for seen in (
        "<h1>Review history</h1>",
        "Submitted for review",
        f"{stars.name} {stars.version}",
        '<span class="zone">UTC</span>',
    ):
        assert seen in listed.text
