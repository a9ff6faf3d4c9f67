"""The mail that tells a developer what a reviewer has decided."""

from typing import Any

import pytest
from django.core import mail
from django.db import transaction

from accounts.models import Mail, User
from accounts.services.sender import send_due
from marketplace import tasks
from marketplace.models import App, Submission
from marketplace.services import reviews
from marketplace.services.review_messages import notes_of
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once")]


@pytest.fixture
def stars(dana: User) -> App:
    return factories.app(dana, name="Stars & <Stripes>", slug="stars", version="1.4.0")


@pytest.fixture
def submission(stars: App) -> Submission:
    return factories.submit(stars)


def test_approval_is_mailed(
    submission: Submission, rita: User, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        reviews.approve(submission=submission, reviewer=rita, notes="Nice & tidy.")
        assert mail.outbox == []
    (message,) = mail.outbox
    assert (message.subject, message.to) == ("Stars & <Stripes> 1.4.0 is approved", ["dana@example.com"])
    for words in (
        "Hello Dana",
        "Merchants can find and install it now.",
        "Nice & tidy.",
        "http://testserver/marketplace/stars/",
        "http://testserver/portal/apps/stars/review/",
    ):
        assert words in str(message.body)
    html = str(message.alternatives[0][0])  # type: ignore[attr-defined]
    assert "Stars &amp; &lt;Stripes&gt; 1.4.0 is approved" in html
    assert "Nice &amp; tidy." in html
    assert "<Stripes>" not in html


def test_rejection_is_mailed_with_notes_and_failed_criteria(
    submission: Submission, rita: User, django_capture_on_commit_callbacks: Any
) -> None:
    findings = {
        "quality": {"verdict": "PASS", "note": "Lovely pictures."},
        "security": {"verdict": "FAIL", "note": "A bad signature got 200."},
    }
    Submission.objects.update(findings=findings)
    with django_capture_on_commit_callbacks(execute=True):
        reviews.reject(submission=submission, reviewer=rita, notes="Check signatures.")
    (message,) = mail.outbox
    assert message.subject == "Stars & <Stripes> 1.4.0 needs changes"
    body = str(message.body)
    for words in ("a draft again", "Security\n\nA bad signature got 200.", "Check signatures."):
        assert words in body
    assert "Lovely" not in body
    assert "stays listed" not in body
    assert rita.email not in body + message.subject


def test_notes_are_those_of_the_decision(submission: Submission, rita: User) -> None:
    """The portal shows them, and until the decision none."""
    findings = {
        "security": {"verdict": "FAIL", "note": " "},
        "quality": {"verdict": "FAIL", "note": "Blurred."},
    }
    submission.findings, submission.notes = findings, "Draft."
    assert notes_of(submission) == ""
    Submission.objects.update(findings=findings)
    rejected = reviews.reject(submission=submission, reviewer=rita, notes="Sign.")
    assert notes_of(rejected) == "Quality: Blurred.\n\nSign."


def test_rejection_of_an_update_says_that_the_app_stays_listed(
    stars: App, rita: User, django_capture_on_commit_callbacks: Any
) -> None:
    factories.approve(stars)
    submission = factories.submit(stars)
    with django_capture_on_commit_callbacks(execute=True):
        reviews.reject(submission=submission, reviewer=rita, notes="No.")
    assert "stays listed" in str(mail.outbox[0].body)
    assert "/marketplace/" not in str(mail.outbox[0].body), "A rejection leads to the review."


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_decision_on_a_suspended_app_names_no_listing(
    stars: App, rita: User, decision: str, django_capture_on_commit_callbacks: Any
) -> None:
    factories.approve(stars)
    submission = factories.submit(stars)
    App.objects.update(suspended_at=submission.submitted_at)
    with django_capture_on_commit_callbacks(execute=True):
        getattr(reviews, decision)(submission=submission, reviewer=rita, notes="As agreed.")
    body = str(mail.outbox[0].body)
    assert "As agreed." in body
    for words in ("find and install it", "stays listed", "/marketplace/"):
        assert words not in body


def test_each_developer_is_told_by_name(
    stars: App, sam: User, rita: User, django_capture_on_commit_callbacks: Any
) -> None:
    factories.member(stars, sam)
    submission = factories.submit(stars)
    with django_capture_on_commit_callbacks(execute=True):
        reviews.approve(submission=submission, reviewer=rita)
    found = {message.to[0]: str(message.body).partition(",")[0] for message in mail.outbox}
    assert found == {"dana@example.com": "Hello Dana", "sam@example.com": "Hello Sam"}


@pytest.mark.django_db(transaction=True)
def test_decision_that_is_rolled_back_is_not_mailed(submission: Submission, rita: User) -> None:
    with transaction.atomic():
        reviews.approve(submission=submission, reviewer=rita)
        transaction.set_rollback(True)
    assert mail.outbox == []


def test_nothing_else_is_mailed(stars: App, rita: User, django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        submission = reviews.submit(app=stars, developer=stars.developer)
        reviews.take(submission=submission, reviewer=rita)
        reviews.release(submission=submission, reviewer=rita)
        reviews.withdraw(app=stars, developer=stars.developer)
    tasks.mail_decision(str(submission.id))
    tasks.mail_decision("01900000-0000-7000-8000-000000000000")
    assert not Mail.objects.exists()
    assert mail.outbox == []


def test_without_broker_and_mail_server_the_decision_stands(
    submission: Submission,
    rita: User,
    settings: Any,
    dead_broker: None,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    with django_capture_on_commit_callbacks(execute=True):
        reviews.approve(submission=submission, reviewer=rita)
    submission.refresh_from_db()
    assert submission.status == "APPROVED"
    assert send_due() == 0
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert send_due() == 1
