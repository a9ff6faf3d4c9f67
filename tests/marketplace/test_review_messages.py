"""Messages about a submission: who may write how many, and who gets a mail."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.enums import MailKind
from accounts.models import Mail, User
from accounts.services.sender import send_due
from common.errors import Conflict, Invalid
from marketplace.enums import AppRole
from marketplace.models import App, ReviewMessage, Submission
from marketplace.services import reviews
from marketplace.services.review_messages import (
    MOST_PER_HOUR,
    mail_message,
    may_write,
    send_message,
    with_app,
)
from tests import factories

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)

pytestmark = pytest.mark.django_db


def sent(submission: Submission, author: User, text: str = "Hello", now: datetime = NOW) -> ReviewMessage:
    return send_message(submission=submission, author=author, text=text, now=now)


def mailed_to(message: ReviewMessage, mailoutbox: list[Any]) -> list[str]:
    Mail.objects.all().delete()
    mailoutbox.clear()
    mail_message(with_app().get(pk=message.pk))
    send_due()
    return sorted(address for mail in mailoutbox for address in mail.to)


def test_message_is_of_the_side_whose_author_wrote_it(
    app: App, submission: Submission, dana: User, sam: User, rita: User
) -> None:
    factories.member(app, sam, AppRole.VIEWER)
    made = sent(submission, dana, "  Use SAVE10.\n")
    assert (made.submission, made.author, made.at, made.text) == (submission, dana, NOW, "Use SAVE10.")
    assert [sent(submission, each).from_reviewer for each in (dana, sam, rita)] == [False, False, True]
    for text in (" ", "x" * 4001):
        with pytest.raises(Invalid):
            sent(submission, dana, text)


def test_twenty_messages_within_an_hour(
    app: App, submission: Submission, dana: User, sam: User, rita: User
) -> None:
    for number in range(MOST_PER_HOUR):
        sent(submission, dana, now=NOW + number * SECOND)
    with pytest.raises(Conflict, match="20 messages within an hour"):
        sent(submission, dana, now=NOW + HOUR - SECOND)
    assert sent(submission, rita, now=NOW + HOUR - SECOND)
    other = reviews.submit(app=factories.app(dana, name="Bell", slug="bell"), developer=dana, now=NOW)
    assert sent(other, dana, now=NOW + HOUR - SECOND), "Each app has its own."
    assert sent(submission, dana, now=NOW + HOUR), "The first was an hour ago."
    with pytest.raises(Conflict):
        sent(submission, dana, now=NOW + HOUR)


def test_only_the_newest_submission_that_was_not_withdrawn_is_open(
    app: App, submission: Submission, dana: User, rita: User
) -> None:
    assert may_write(submission, submission)
    reviews.reject(submission=submission, reviewer=rita, notes="Sign.", now=NOW)
    assert sent(submission, dana), "Also after the decision."
    app.refresh_from_db()
    newest = reviews.submit(app=app, developer=dana, now=NOW + HOUR)
    for author in (dana, rita):
        with pytest.raises(Conflict, match="closed for messages"):
            sent(submission, author)
    assert sent(newest, dana)
    reviews.withdraw(app=app, developer=dana, now=NOW + HOUR)
    newest.refresh_from_db()
    with pytest.raises(Conflict, match="closed for messages"):
        sent(newest, dana)
    assert [
        may_write(*pair) for pair in ((submission, newest), (newest, newest), (None, newest), (newest, None))
    ] == [False] * 4


def test_developers_message_goes_to_the_reviewers_of_the_app(
    app: App, submission: Submission, dana: User, rita: User, otto: User, mailoutbox: list[Any]
) -> None:
    other = reviews.submit(app=factories.app(dana, name="Bell", slug="bell"), developer=dana, now=NOW)
    sent(other, factories.reviewer("uma@example.com"))
    assert mailed_to(sent(submission, dana), mailoutbox) == [], "The queue shows it."
    reviews.take(submission=submission, reviewer=rita, now=NOW)
    message = sent(submission, dana, "Which key?")
    assert mailed_to(message, mailoutbox) == [rita.email]
    (mail,) = mailoutbox
    assert mail.subject == f"{app.name} {submission.version}: message about the review"
    assert "Which key?" in mail.body
    assert f"/admin/marketplace/submission/{submission.pk}/change/#conversation" in mail.body
    for author in (otto, rita):
        sent(submission, author)
    assert mailed_to(message, mailoutbox) == [otto.email, rita.email]
    User.objects.filter(pk=rita.pk).update(is_active=False)
    assert mailed_to(message, mailoutbox) == [otto.email]


def test_reviewers_message_goes_to_owner_and_developers_who_want_it(
    app: App, submission: Submission, dana: User, sam: User, rita: User, mailoutbox: list[Any]
) -> None:
    factories.member(app, sam)
    factories.member(app, factories.developer("viv@example.com"), AppRole.VIEWER)
    message = sent(submission, rita, "Sign the webhook.")
    assert mailed_to(message, mailoutbox) == [dana.email, sam.email]
    assert all("Sign the webhook." in mail.body for mail in mailoutbox)
    assert all(f"/portal/apps/{app.slug}/review/#messages" in mail.body for mail in mailoutbox)
    User.objects.filter(pk=sam.pk).update(muted_mails=[MailKind.REVIEW_DECISIONS])
    assert mailed_to(message, mailoutbox) == [dana.email]


def test_message_is_mailed_without_a_broker(
    submission: Submission,
    rita: User,
    dead_broker: None,
    mailoutbox: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        sent(submission, rita, "Sign the webhook.")
    send_due()
    assert ["Sign the webhook." in mail.body for mail in mailoutbox] == [True]
