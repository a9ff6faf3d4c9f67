"""A reviewer's desk: checks that run by themselves, the order of the queue, the conversation, the test install."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from developers.review import check_runs
from developers.review.tasks import check_submission, check_submissions
from extensions.enums import ExtensionType
from extensions.hooks.live import hooks_at
from extensions.queries import extensions_on
from extensions.services.manifests import save_manifest
from installations.models import Installation
from marketplace.models import App, AppTotals, CheckRun, ReviewEntry, ReviewMessage, Submission
from marketplace.services import findings, reviews
from marketplace.services.review_messages import MOST_PER_HOUR
from stores.addresses import store_url
from stores.hookpoints import HookPoint
from tests import factories
from tests.developers.review.reviewing import JUDGED, QUEUE, client_of, messages_of, page_of, submitted
from tests.extensions.manifests import hook, script
from webhooks.models import Delivery

pytestmark = pytest.mark.long

DESK = "Contract 7 Pages"


@pytest.fixture
def portal(dana: User) -> Client:
    return client_of(dana)


# Checks


@pytest.mark.spec(DESK, "The checks of a submission run by themselves, and their evidence is kept")
def test_checks_run_in_the_background_once(
    stars: App, django_capture_on_commit_callbacks: Any, tasks_run_at_once: None
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        submission = submitted(stars)
        assert not CheckRun.objects.exists()
    run = CheckRun.objects.get()
    assert (run.submission, run.by) == (submission, None)
    assert {result["title"] for result in run.results} >= {"Listing", "Behavior"}
    check_submission(str(submission.pk))
    check_submissions()
    assert CheckRun.objects.count() == 1


def test_checks_of_a_worker_that_died_are_run_again(stars: App) -> None:
    submission = submitted(stars)
    assert findings.claim_checks(submission_id=submission.pk) is not None  # and dies
    check_submissions()
    assert not CheckRun.objects.exists()
    later = timezone.now() + findings.CHECKS_LEASE
    check_runs.run_due_checks(now=later)
    assert CheckRun.objects.count() == 1


def test_each_run_is_kept_with_who_asked_for_it(admin: Client, rae: User, stars: App) -> None:
    submission = submitted(stars)
    check_submissions()
    admin.post(page_of(submission, "findings"), JUDGED | {"check": ""})
    assert [run.by for run in CheckRun.objects.order_by("at")] == [None, rae]


def test_page_shows_that_checks_run_and_brings_their_results(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    page = admin.get(page_of(submission))
    assert "The checks are running." in page.text
    assert page_of(submission, "checks") in page.text
    part = page_of(submission, "checks")
    assert admin.get(part, {"seen": page.context["version"]}).status_code == 204
    Submission.objects.update(checks_due_at=timezone.now() - check_runs.OVERDUE)  # no worker took them
    results = admin.get(part, {"seen": page.context["version"]})
    assert "No test notes" in results.text
    assert CheckRun.objects.count() == 1
    assert "data-live-part" not in admin.get(page_of(submission)).text


# The decision names what failed


def test_approval_names_failed_checks_before_and_afterwards(admin: Client, stars: App) -> None:
    submission = submitted(stars)
    admin.post(page_of(submission, "findings"), JUDGED | {"check": ""})
    asked = admin.get(page_of(submission, "approve")).text
    assert "These checks failed" in asked
    assert "No test notes: the developer hasn&#x27;t explained how to test the app." in asked
    page = admin.post(page_of(submission, "approve"), {"notes": "Well made."}, follow=True)
    objection = "Approved although 2 checks had failed: Listing, Behavior."
    assert objection in page.text
    assert ReviewEntry.objects.get(kind="APPROVED").note == f"Well made.\n\n{objection}"
    assert "although" not in client_of(stars.developer).get("/portal/apps/stars/review/").text


# The queue


@pytest.mark.spec(DESK, "The review queue is in order of risk, with reasons; overdue submissions come first")
def test_queue_is_in_order_of_risk_with_reasons(admin: Client, dana: User, sam: User, rae: User) -> None:
    plain = factories.app(sam, name="Plain Sam", scopes=["read_products"])
    factories.approve(factories.app(sam, name="Loyal Sam"))
    overdue = factories.app(sam, name="Patient Sam", scopes=["read_products"])
    risky = factories.app(dana, name="Loya1 Sam", scopes=["read_orders"])
    save_manifest(app=risky, developer=dana, document={"embeds": [script()]})
    reviews.reject(submission=submitted(risky), reviewer=rae, notes="No.")
    risky.refresh_from_db()
    submitted(plain)
    submitted(overdue, now=timezone.now() - timedelta(days=4))
    submitted(risky)
    page = admin.get(QUEUE)
    assert [row.app for row in page.context["cl"].result_list] == [overdue, risky, plain]
    text = " ".join(page.text.split())
    for reason in ("New script", "First app", "Rejected before", "Sensitive scopes", "Overdue since"):
        assert reason in text
    first = admin.post(page_of(Submission.objects.get(app=overdue), "approve"), follow=True)
    assert first.context["next"].app == risky


def test_queue_shows_the_median_wait(admin: Client, sam: User, rae: User) -> None:
    now = timezone.now()
    assert "Half of the last" not in admin.get(QUEUE).text
    for hours in (1, 2, 3, 50, 99):
        submission = submitted(factories.app(sam), now=now - timedelta(hours=hours))
        reviews.approve(submission=submission, reviewer=rae, now=now)
    assert "<strong>3 hours</strong>" in admin.get(QUEUE).text


# The conversation


@pytest.mark.spec(DESK, "Reviewer and developer write to each other about a submission; both get mail")
def test_both_sides_write_and_get_mail(
    admin: Client,
    portal: Client,
    rae: User,
    stars: App,
    django_capture_on_commit_callbacks: Any,
    tasks_run_at_once: None,
) -> None:
    submission = submitted(stars)
    reviews.take(submission=submission, reviewer=rae)
    with django_capture_on_commit_callbacks(execute=True):
        asked = admin.post(page_of(submission, "message"), {"text": "How do I <b>test</b> it?"}, follow=True)
    assert messages_of(asked) == ["Message sent to Dana."]
    with django_capture_on_commit_callbacks(execute=True):
        page = portal.post("/portal/apps/stars/review/messages/", {"text": "Order twice."}, follow=True)
    assert [message.to for message in mail.outbox] == [["dana@example.com"], ["rae@example.com"]]
    assert "How do I <b>test</b> it?" in str(mail.outbox[0].body)
    for text in (page.text, admin.get(page_of(submission)).text):
        assert text.index("Submitted for review") < text.index("How do I &lt;b&gt;test&lt;/b&gt; it?")
        assert text.index("How do I") < text.index("Order twice.")
    assert "Rae Ito" not in page.text
    assert "New message" in admin.get(QUEUE, {"state": "held"}).text
    reviews.reject(submission=submission, reviewer=rae, notes="Not yet.")
    for text in (portal.get("/portal/apps/stars/review/").text, admin.get(page_of(submission)).text):
        assert text.rindex("Order twice.") < text.rindex("Not yet.")


def test_messages_are_limited_and_closed_to_strangers(
    admin: Client, portal: Client, sam: User, stars: App
) -> None:
    path = "/portal/apps/stars/review/messages/"
    assert portal.post(path, {"text": "Hello"}).status_code == 404  # never submitted
    submission = submitted(stars)
    assert client_of(sam).post(path, {"text": "Hello"}).status_code == 404
    assert portal.get(path)["Location"] == "/portal/apps/stars/review/"
    assert client_of(sam).post(page_of(submission, "message"), {"text": "Hello"}).status_code == 302
    for text in ("", "   ", "x" * 4001, "a\x00b"):
        assert portal.post(path, {"text": text}).status_code == 422
    assert admin.post(page_of(submission, "message"), {"text": ""}).status_code == 422
    for _ in range(MOST_PER_HOUR):
        portal.post(path, {"text": "Hello"})
    refused = portal.post(path, {"text": "Once more"})
    assert refused.status_code == 422
    assert "Once more" in refused.text
    assert ReviewMessage.objects.count() == MOST_PER_HOUR
    reviews.withdraw(app=stars, developer=stars.developer)
    assert portal.post(path, {"text": "Hello"}).status_code == 422


# The reviewer's test install


@pytest.mark.spec(DESK, "A reviewer installs a submission on a test store of their own with one press")
def test_reviewer_tries_the_submitted_version(
    admin: Client, portal: Client, rae: User, stars: App, shop: Business, client: Client
) -> None:
    save_manifest(app=stars, developer=stars.developer, document={"hooks": [hook()], "embeds": [script()]})
    App.objects.update(webhook_url="https://stars.example.com/hooks")
    stars.refresh_from_db()
    submission = submitted(stars)
    before = admin.get(page_of(submission, "approve")).text
    page = admin.post(page_of(submission, "install"), follow=True)
    installation = Installation.objects.get()
    store = installation.business
    assert (store.owner, store.is_sandbox, installation.is_test) == (rae, True, True)
    assert installation.effective_scopes == stars.scopes
    assert [each.url for each in hooks_at(store, HookPoint.DISCOUNTS)] == [
        "https://stars.example.com/hooks/hooks/discounts"
    ]
    assert [each.definition.type for each in extensions_on(store, ExtensionType.EMBED)] == ["embed"]
    for url in (store_url(store.slug), f"/merchant/apps/{installation.pk}/", "/oauth/authorize?"):
        assert url in page.text
    for url in ("/merchant/", f"/merchant/apps/{installation.pk}/", "/merchant/pages/"):
        assert admin.get(url).status_code == 200, url
    address = f"/oauth/authorize?response_type=code&client_id={stars.client_id}"
    consent = admin.get(address)
    assert consent.status_code == 200
    admin.post(address, {"scopes": " ".join(consent.context["page"].scopes), "answer": "install"})
    installation.refresh_from_db()
    assert (installation.is_review, installation.is_own) == (True, False)
    assert not AppTotals.objects.exists()
    effects = [line for line in before.split("<li>") if "test install" in line]
    assert [
        line
        for line in admin.get(page_of(submission, "approve")).text.split("<li>")
        if "test install" in line
    ] == effects
    admin.post(page_of(submission, "approve"))
    installation.refresh_from_db()
    assert installation.uninstalled_at is not None
    again = admin.post(page_of(submission, "install"), follow=True)
    assert any("already been decided" in message for message in messages_of(again))
    assert not Delivery.objects.filter(event__type="order.created").exists()


def test_reviewer_uninstalls_and_strangers_see_no_test_store(admin: Client, otto: User, stars: App) -> None:
    submission = submitted(stars)
    for _ in range(2):
        admin.post(page_of(submission, "install"))
    installation = Installation.objects.get()
    other = client_of(otto)
    assert other.get("/merchant/").status_code == 403
    other.post(page_of(submission, "install"))
    assert other.get(f"/merchant/apps/{installation.pk}/").status_code == 404
    admin.post(page_of(submission, "uninstall"))
    installation.refresh_from_db()
    assert installation.uninstalled_at is not None
    assert Installation.objects.active().get().business.owner == otto
