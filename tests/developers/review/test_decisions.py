"""Approving and rejecting in the admin: effects shown first, done once, e-mailed to the developer."""

from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Business, User
from marketplace.models import App, AppVersion, Submission
from marketplace.services import reviews
from marketplace.services.apps import delete_app
from tests import factories
from tests.clients import Api
from tests.developers.review.reviewing import JUDGED, client_of, messages_of, page_of, submitted
from tests.pages import text_of

APP_STATUS = "States/App status"


@pytest.mark.long
@pytest.mark.spec(APP_STATUS, "A review approves an app that is in review: it is listed at once")
def test_approve(admin: Client, stars: App, rae: User) -> None:
    submission = submitted(stars)
    asked = admin.post(page_of(submission, "findings"), JUDGED | {"approve": ""}, follow=True)
    assert asked.redirect_chain == [(page_of(submission, "approve"), 302)]
    assert "listed in the marketplace right away" in asked.text
    assert not AppVersion.objects.exists()
    done = admin.post(page_of(submission, "approve"), {"notes": "Well made."}, follow=True)
    assert done.redirect_chain == [(page_of(submission), 302)]
    assert "Loyalty Stars 1.4.0 is approved." in messages_of(done)
    assert "Approved</strong> by Rae Ito" in done.text
    submission.refresh_from_db()
    stars.refresh_from_db()
    assert (submission.status, submission.reviewer, submission.notes) == ("APPROVED", rae, "Well made.")
    assert (stars.status, stars.is_listed) == ("APPROVED", True)
    assert Client().get("/marketplace/stars/").status_code == 200


def test_reviewer_can_not_decide_on_their_own_app(stars: App, dana: User) -> None:
    User.objects.filter(pk=dana.pk).update(is_staff=True, is_superuser=True)
    dana.refresh_from_db()
    submission, browser = submitted(stars), client_of(dana)
    for act in ("take", "approve"):
        answer = browser.post(page_of(submission, act), {"notes": ""}, follow=True)
        assert "You are a member of this app" in text_of(answer, 403)
    submission.refresh_from_db()
    assert (submission.status, submission.reviewer) == ("PENDING_REVIEW", None)


def test_rejection_mail_equals_its_preview(
    admin: Client, stars: App, django_capture_on_commit_callbacks: Any, tasks_run_at_once: None
) -> None:
    submission = submitted(stars)
    body = {"security-verdict": "FAIL", "security-note": "An old signature got 200.", "reject": ""}
    admin.post(page_of(submission, "findings"), body)
    shown = admin.post(page_of(submission, "reject"), {"notes": "Nearly there.", "preview": ""})
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(page_of(submission, "reject"), {"notes": "Nearly there."})
    (sent,) = mail.outbox
    assert sent.to == ["dana@example.com"]
    assert "An old signature got 200." in sent.body
    assert "Nearly there." in sent.body
    previewed = shown.context["mail"]
    assert (previewed.subject, previewed.body) == (sent.subject, sent.body)


def test_approval_mail_equals_its_preview(
    admin: Client, stars: App, django_capture_on_commit_callbacks: Any, tasks_run_at_once: None
) -> None:
    submission = submitted(stars)
    shown = admin.get(page_of(submission, "approve")).context["mail"]
    with django_capture_on_commit_callbacks(execute=True):
        admin.post(page_of(submission, "approve"))
    assert "Merchants can find and install it now." in mail.outbox[0].body
    assert (shown.subject, shown.body) == (mail.outbox[0].subject, mail.outbox[0].body)


@pytest.mark.spec(
    "Contract 7 Pages",
    "The effects of an approval are shown first: converted installs, installs that must agree again",
)
def test_approval_counts_its_effects(
    admin: Client, stars: App, dana: User, sandbox: Business, shop: Business, sam: User
) -> None:
    factories.approve(stars, scopes=["read_products"], version="1.3.0")
    App.objects.filter(pk=stars.pk).update(status="DRAFT")
    stars.refresh_from_db()
    owners = [factories.merchant(f"m{number}@example.com") for number in range(3)]
    shops = [Business.objects.get(owner=owner) for owner in owners]
    factories.installation(stars, shop, granted_scopes=["read_products"])
    factories.installation(stars, shops[0], granted_scopes=["read_products"])
    factories.installation(stars, shops[1], granted_scopes=["read_products", "read_orders"])
    factories.installation(stars, sandbox)
    factories.installation(factories.app(sam), shops[2], granted_scopes=[])
    text = admin.get(page_of(submitted(stars), "approve")).text
    assert "Version 1.4.0 replaces 1.3.0 in the marketplace right away." in text
    assert "1 test install becomes a production install." in text
    assert "2 installations must approve the new permissions." in text


def test_developer_and_reviewer_see_the_same_number(
    admin: Client, stars: App, dana: User, shop: Business, mira: User
) -> None:
    """An earlier approval removed read_orders but isn't rolled out yet. Installs that still have it needn't agree."""
    factories.approve(stars, scopes=["read_products"])
    App.objects.filter(pk=stars.pk).update(status="DRAFT")
    stars.refresh_from_db()
    factories.installation(stars, shop, granted_scopes=["read_products"])
    factories.installation(stars, factories.business(mira), granted_scopes=["read_products", "read_orders"])
    portal = client_of(dana).get("/portal/apps/stars/review/submit/").text
    approval = admin.get(page_of(submitted(stars), "approve")).text
    for page in (portal, approval):
        assert "1 installation must approve the new " in " ".join(page.split())


def test_approval_of_a_suspended_app_keeps_it_off_the_marketplace(
    admin: Client, stars: App, rae: User
) -> None:
    submission = submitted(stars)
    reviews.suspend(app=stars, reviewer=rae, reason="Spam.")
    text = admin.get(page_of(submission, "approve")).text
    assert "The app stays off the marketplace, because it is suspended." in text
    assert "is listed" not in text


def test_approval_warns_of_failed_and_unjudged_criteria(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    admin.post(page_of(submission, "findings"), {"security-verdict": "FAIL", "quality-verdict": "PASS"})
    page = admin.get(page_of(submission, "approve"))
    assert page.context["failing"] == ["security"]
    assert page.context["unjudged"] == ["functionality", "scopes", "policy"]
    assert "You marked these criteria as failed" in page.text
    assert "The automatic checks haven't run." in page.text


@pytest.mark.spec(
    APP_STATUS, "A review rejects an app with notes: it is a draft again, and the notes are attached"
)
def test_reject(admin: Client, stars: App, rae: User) -> None:
    submission = submitted(stars)
    admin.post(page_of(submission, "reject"), {"notes": "Add screenshots."})
    submission.refresh_from_db()
    stars.refresh_from_db()
    assert (submission.status, submission.notes, submission.reviewer) == ("REJECTED", "Add screenshots.", rae)
    assert (stars.status, stars.is_listed) == ("DRAFT", False)


@pytest.mark.parametrize("notes", ["", "   \n"])
def test_reject_needs_notes(admin: Client, stars: App, notes: str) -> None:
    submission = submitted(stars)
    page = admin.post(page_of(submission, "reject"), {"notes": notes})
    assert page.status_code == 422
    assert "Explain what has to change, here or in the note on a failed criterion." in page.text
    submission.refresh_from_db()
    assert submission.status == "PENDING_REVIEW"


def test_reject_with_only_a_note_on_a_failed_criterion(admin: Client, stars: App, api: Api) -> None:
    submission = submitted(stars)
    note = {"quality-verdict": "FAIL", "quality-note": "Add screenshots.", "policy-note": "Fine."}
    page = admin.post(page_of(submission, "findings"), {**note, "reject": ""})
    assert admin.post(page["Location"], {"notes": ""}).status_code == 302
    [seen] = api("get", f"/developer/apps/{stars.pk}/submissions").json()["data"]
    assert (seen["status"], seen["notes"]) == ("REJECTED", "Quality: Add screenshots.")


def test_common_reasons_become_part_of_the_notes_and_can_be_edited(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    reasons = [
        "Add screenshots of the app in use.",
        "Use a square icon of at least 256 pixels.",
    ]
    body = {"notes": "Hello.", "reasons": reasons, "preview": ""}
    page = admin.post(page_of(submission, "reject"), body)
    assert page.status_code == 200
    assert page.context["form"]["notes"].value() == "\n\n".join(["Hello.", *reasons])
    assert reasons[1] in page.context["mail"].body
    submission.refresh_from_db()
    assert submission.status == "PENDING_REVIEW"
    admin.post(page_of(submission, "reject"), {"notes": reasons[0], "reasons": reasons})
    submission.refresh_from_db()
    assert submission.notes == "\n\n".join(reasons)


@pytest.mark.parametrize("act", ["approve", "reject"])
def test_decision_sent_twice_is_made_once(admin: Client, stars: App, act: str) -> None:
    submission = submitted(stars)
    body = {"notes": "Thank you."}
    assert admin.post(page_of(submission, act), body).status_code == 302
    again = admin.post(page_of(submission, act), body, follow=True)
    assert again.redirect_chain == [(page_of(submission), 302)]
    assert any("decided" in message for message in messages_of(again))
    assert stars.versions.count() == (act == "approve")
    assert stars.review_log.count() == 2


@pytest.mark.long
@pytest.mark.spec(
    APP_STATUS, "A decision on a submission that has been decided or withdrawn is refused with a message"
)
@pytest.mark.parametrize("act", ["approve", "reject", "take", "release", "findings"])
def test_outdated_page_shows_the_decision(
    act: str, admin: Client, otto: User, stars: App, dana: User
) -> None:
    submission = submitted(stars)
    client_of(otto).post(page_of(submission, "reject"), {"notes": "Not yet."})
    page = admin.post(page_of(submission, act), {"notes": "Fine."} | JUDGED, follow=True)
    assert any("rejected" in message for message in messages_of(page))
    assert "Rejected</strong> by Otto Weiss" in page.text
    assert "Not yet." in page.text
    submission.refresh_from_db()
    assert (submission.notes, submission.reviewer, submission.findings) == ("Not yet.", otto, {})
    stars.refresh_from_db()
    withdrawn = submitted(stars)
    reviews.withdraw(app=stars, developer=stars.developer)
    page = admin.post(page_of(withdrawn, act), {"notes": "Fine."} | JUDGED, follow=True)
    assert any("withdrawn" in message for message in messages_of(page))


def test_decided_submission_can_not_be_decided_again(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    admin.post(page_of(submission, "approve"))
    for act in ("approve", "reject"):
        assert admin.get(page_of(submission, act))["Location"] == page_of(submission)


@pytest.mark.spec(
    "Contract 2 Developer API",
    "Every approved version is kept, and the admin shows what changed between them",
)
def test_page_of_an_approval_shows_what_it_changed(admin: Client, stars: App) -> None:
    factories.approve(stars, name="Star Cards", version="1.3.0")
    App.objects.filter(pk=stars.pk).update(status="DRAFT")
    stars.refresh_from_db()
    submission = submitted(stars)
    admin.post(page_of(submission, "approve"))
    App.objects.filter(pk=stars.pk).update(name="Edited Since", status="DRAFT")
    page = admin.get(page_of(submission))
    assert "Star Cards" in page.text
    assert page.context["content"].fields.name == "Loyalty Stars"
    assert {change.label for change in page.context["changes"]} == {"Name", "Version"}


@pytest.mark.long
def test_decision_offers_the_next_submission(admin: Client, stars: App, sam: User, otto: User) -> None:
    first, held, second = (submitted(each) for each in (stars, factories.app(sam), factories.app(sam)))
    reviews.take(submission=held, reviewer=otto)
    page = admin.post(page_of(first, "approve"), follow=True)
    assert page.context["next"] == second
    assert f"Review next: {second}" in page.text
    taken = admin.post(page_of(second, "take"), follow=True)
    assert taken.context["holds"]
    page = admin.post(page_of(second, "approve"), follow=True)
    assert "No submissions are waiting for review." in page.text


def test_decision_on_a_deleted_app_is_refused(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    delete_app(app=stars)
    page = admin.post(page_of(submission, "approve"), follow=True)
    assert page.status_code in (200, 404)
    assert Submission.objects.get().status == "WITHDRAWN"
    assert not AppVersion.objects.exists()
