"""The automatic checks of the review page, against real receivers."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App, Submission
from marketplace.services.apps import update_app
from marketplace.services.pictures import decode
from tests import factories
from tests.developers.review.reviewing import JUDGED, QUEUE, messages_of, page_of, submitted
from tests.pictures import picture, upload
from tests.receivers import Receiver
from webhooks.services.app_defined import follow_app

pytestmark = pytest.mark.long

CHECKS = "States/App status"


@pytest.fixture(autouse=True)
def _development_machine(settings: Any) -> None:
    """Accepts plain HTTP to this machine."""
    settings.DEBUG = True


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def installed(stars: App, sandbox: Business) -> Installation:
    return factories.installation(stars, sandbox)


def listening(app: App, installation: Installation | None, url: str) -> Submission:
    """The app in review, with its Webhook URL registered for the test install."""
    App.objects.filter(pk=app.pk).update(webhook_url=url)
    app.refresh_from_db()
    if installation is not None:
        follow_app(installations=list(Installation.objects.with_app().filter(pk=installation.pk)))
    return submitted(app)


def run(admin: Client, submission: Submission) -> dict[str, list[tuple[str, str]]]:
    """Runs the checks and returns the results that the page shows, by title."""
    page = admin.post(page_of(submission, "findings"), {"check": ""}, follow=True)
    assert page.status_code == 200
    return {
        result.title: [(line.outcome.value, line.text) for line in result.evidence]
        for result in page.context["results"]
    }


@pytest.mark.spec(
    CHECKS, "A review checks that a wrong and an old signature are answered 401, a valid one 2xx"
)
def test_signatures_are_tried(admin: Client, stars: App, installed: Installation, receiver: Receiver) -> None:
    submission = listening(stars, installed, receiver.url)
    lines = run(admin, submission)["Behavior"]
    for outcome, text in (
        ("PASS", "Accepts a valid delivery. A valid webhook.test: responded 200"),
        (
            "FAIL",
            "Refuses a delivery that is signed with another secret. Signed with another secret: responded",
        ),
        ("FAIL", "Refuses a delivery that is ten minutes old. Sent ten minutes ago: responded 200"),
    ):
        assert any(found == outcome and line.startswith(text) for found, line in lines), text
    asked = len(receiver.requests)
    assert admin.get(page_of(submission)).status_code == 200
    assert len(receiver.requests) == asked, "results are kept"


def test_app_without_a_webhook_url(admin: Client, stars: App) -> None:
    found = run(admin, submitted(stars))
    assert found["Webhook URL"] == [
        ("PASS", "The app has no Webhook URL, so we send it no webhooks of its own.")
    ]


@pytest.mark.spec(CHECKS, "A review checks whether the app's URLs are HTTPS")
def test_urls(admin: Client, stars: App, settings: Any) -> None:
    found = run(admin, submitted(stars))
    assert found["Redirect URL"] == [("PASS", "https://app.example.com/callback is HTTPS.")]
    plain = "http://127.0.0.1:9/hooks"
    App.objects.filter(pk=stars.pk).update(redirect_url=plain, webhook_url=plain)
    submission = Submission.objects.get()
    found = run(admin, submission)
    assert found["Redirect URL"][0][0] == found["Webhook URL"][0][0] == "WARN"
    settings.DEBUG = False
    found = run(admin, submission)
    assert found["Redirect URL"][0] == (
        "FAIL",
        f"{plain} is no longer accepted: Enter a URL that starts with https://.",
    )
    assert found["Webhook URL"][0][0] == "FAIL"


@pytest.mark.spec(CHECKS, "A review checks whether the pictures exist and are large enough")
def test_pictures(admin: Client, stars: App, sam: User) -> None:
    found = run(admin, submitted(stars))
    assert [outcome for outcome, _ in found["Pictures"]] == ["SKIPPED"]
    assert found["Listing"] == [
        ("WARN", "The description is only a few words. It hardly explains the app."),
        ("FAIL", "No test notes: the developer hasn't explained how to test the app."),
        ("WARN", "No icon. The listing shows the first letter of the app's name."),
        ("WARN", "No screenshots."),
    ]
    good, small = factories.app(sam, name="Good"), factories.app(sam, name="Small")
    shots = [decode(upload(picture(size=(1280, 800))))]
    update_app(app=good, changes={"icon": decode(upload(picture(size=(256, 256)))), "screenshots": shots})
    shots = [decode(upload(picture(size=(1279, 800))))]
    update_app(app=small, changes={"icon": decode(upload(picture(size=(64, 64)))), "screenshots": shots})
    good.refresh_from_db()
    small.refresh_from_db()
    submission = submitted(good)
    lines = run(admin, submission)["Pictures"]
    assert [outcome for outcome, _ in lines] == ["PASS", "PASS"]
    assert lines[0][1].startswith("Icon: 256 × 256 pixels, ")
    assert [outcome for outcome, _ in run(admin, submitted(small))["Pictures"]] == ["WARN", "WARN"]
    good.icon.file.storage.delete(good.icon.file.name)
    assert run(admin, submission)["Pictures"][0] == ("FAIL", "The icon's file can't be read.")


def test_result_is_stored_with_its_time_and_shown_in_the_queue(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    page = admin.post(page_of(submission, "findings"), JUDGED | {"check": ""}, follow=True)
    assert messages_of(page) == ["Checks finished: 2 failed, 1 not checked."]
    submission.refresh_from_db()
    assert submission.findings["security"] == {"verdict": "PASS", "note": ""}
    assert page.context["checked_at"] is not None
    assert "2 failed, 1 not checked" in admin.get(QUEUE, {"state": "held"}).text


def test_checks_of_a_decided_submission_stay(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    run(admin, submission)
    before = Submission.objects.get().checks
    admin.post(page_of(submission, "reject"), {"notes": "No."})
    page = admin.post(page_of(submission, "findings"), {"check": ""}, follow=True)
    assert any("rejected" in message for message in messages_of(page))
    assert Submission.objects.get().checks == before
    assert "Run checks" not in page.text
