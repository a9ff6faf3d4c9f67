"""The life of an app between its developer and the reviewers, below the API, the portal and the admin."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction
from django.forms.models import model_to_dict
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict, Invalid, NotAllowed, NotFound, ServiceError
from marketplace.enums import SubmissionStatus
from marketplace.models import (
    FROZEN_FIELDS,
    App,
    AppVersion,
    Picture,
    ReadOnlyLogError,
    ReviewEntry,
    Submission,
)
from marketplace.services import reviews
from marketplace.services.apps import delete_app, update_app
from marketplace.services.pictures import decode
from marketplace.signals import app_approved, app_reinstated, app_suspended
from tests import factories
from tests.pictures import upload
from tests.signals import heard
from tests.waiting import wait_for_locks

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LATER = datetime(2026, 11, 21, 12, tzinfo=UTC)


def log(app: App) -> list[tuple[str, str | None, str]]:
    entries = ReviewEntry.objects.filter(app=app).order_by("id").select_related("actor")
    return [(entry.kind, entry.actor and entry.actor.name, entry.note) for entry in entries]


# --- Submitting ---------------------------------------------------------------------------------------


@pytest.mark.spec("States/App status", "Submitting makes the app PENDING_REVIEW")
def test_submit_puts_the_working_copy_into_review(app: App, dana: User) -> None:
    made = reviews.submit(app=app, developer=dana, how_to_test=" Use SAVE10. ", scope_reason="All.", now=NOW)
    app.refresh_from_db()
    assert (app.status, app.approved_version, app.is_listed) == ("PENDING_REVIEW", None, False)
    stored = Submission.objects.get()
    assert stored == made
    assert (stored.status, stored.version, stored.submitted_at) == ("PENDING_REVIEW", app.version, NOW)
    assert (stored.how_to_test, stored.scope_reason) == ("Use SAVE10.", "All.")
    assert (stored.added_scopes, stored.removed_scopes) == (app.scopes, [])
    assert (stored.reviewer, stored.decided_at, stored.notes) == (None, None, "")
    assert log(app) == [("SUBMITTED", "Dana", "")]


@pytest.mark.spec("States/App status", "Submitting makes the app non-editable")
def test_submit_locks_the_fields(app: App, submission: Submission) -> None:
    with pytest.raises(Conflict, match="in review"):
        update_app(app=app, changes={"name": "New"})


@pytest.mark.parametrize(
    ("status", "said"), [("PENDING_REVIEW", "already in review"), ("APPROVED", "Change the app")]
)
def test_submit_in_another_state_is_a_conflict(app: App, dana: User, status: str, said: str) -> None:
    App.objects.update(status=status)
    with pytest.raises(Conflict, match=said):
        reviews.submit(app=app, developer=dana)
    app.refresh_from_db()
    assert (app.status, log(app)) == (status, [])
    assert not Submission.objects.exists()


def test_submit_by_another_developer_is_not_found(app: App, sam: User) -> None:
    with pytest.raises(NotFound):
        reviews.submit(app=app, developer=sam)
    assert not Submission.objects.exists()


def test_submit_of_a_deleted_app_is_not_found(app: App, dana: User) -> None:
    delete_app(app=app)
    with pytest.raises(NotFound):
        reviews.submit(app=app, developer=dana)


@pytest.mark.spec(
    "Contract 2 Developer API", "An incomplete submission is refused with what is missing: a URL refused now"
)
def test_submit_names_every_url_that_the_settings_refuse(app: App, dana: User, settings: Any) -> None:
    local = "http://127.0.0.1:9000/x"
    App.objects.update(redirect_url=local, webhook_url=local)
    app.refresh_from_db()
    with pytest.raises(Invalid, match="can't be submitted yet") as caught:
        reviews.submit(app=app, developer=dana)
    assert [problem["field"] for problem in caught.value.details] == ["redirect_url", "webhook_url"]
    app.refresh_from_db()
    assert (app.status, Submission.objects.count()) == ("DRAFT", 0)
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    assert reviews.submit(app=app, developer=dana).status == "PENDING_REVIEW"


def test_submit_looks_the_webhook_url_up(app: App, dana: User, settings: Any) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = False
    App.objects.update(webhook_url="https://ip6-localhost.example/hooks")
    app.refresh_from_db()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("common.http.url_policy.is_allowed_destination", lambda ip, allow_local: False)
        patch.setattr("common.http.url_policy.resolve_host", lambda host, budget: ["10.0.0.1"])
        with pytest.raises(Invalid) as caught:
            reviews.submit(app=app, developer=dana)
    assert [problem["field"] for problem in caught.value.details] == ["webhook_url"]


def test_submit_adds_what_other_floors_find(app: App, dana: User) -> None:
    missing = {"field": "manifest", "message": "The manifest has hooks, and they need a Webhook URL."}
    seen = []

    def check(checked: App) -> list[Any]:
        seen.append((checked.pk, checked.status))
        return [missing]

    with pytest.raises(Invalid, match="need a Webhook URL") as caught:
        reviews.submit(app=app, developer=dana, checks=[check])
    assert (caught.value.details, seen) == ([missing], [(app.pk, "DRAFT")])


@pytest.mark.parametrize(
    ("field", "text"),
    [("how_to_test", "x" * 4001), ("scope_reason", "x" * 501), ("scope_reason", "a\x00b"), ("version", "2")],
)
def test_submit_with_a_bad_text_names_it(app: App, dana: User, field: str, text: str) -> None:
    with pytest.raises(Invalid) as caught:
        reviews.submit(app=app, developer=dana, **{field: text})  # type: ignore[arg-type]
    assert [problem["field"] for problem in caught.value.details] == [field]


@pytest.mark.spec(
    "Contract 9 Apps", "A submission's added and removed scopes are against the approved version"
)
def test_submit_compares_scopes_with_the_newest_approved_version(app: App, dana: User) -> None:
    factories.approve(app, scopes=["read_business"])
    factories.approve(app, scopes=["read_products", "read_orders"])
    update_app(app=app, changes={"scopes": ["read_pages", "read_orders", "read_analytics"]})
    made = reviews.submit(app=app, developer=dana)
    assert (made.added_scopes, made.removed_scopes) == (["read_analytics", "read_pages"], ["read_products"])


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_submit_in_parallel_makes_one_submission(app: App, dana: User) -> None:
    outcomes = together(8, lambda: reviews.submit(app=app, developer=dana))
    assert sorted(outcomes) == ["Conflict"] * 7 + ["Submission"]
    assert Submission.objects.count() == ReviewEntry.objects.count() == 1


def together(count: int, act: Callable[[], object]) -> list[str]:
    """What became of the act, done at the same time in so many threads: the names of results and errors."""
    start = threading.Barrier(count)

    def run(_: int) -> str:
        try:
            start.wait()
            return type(act()).__name__
        except ServiceError as error:
            return type(error).__name__
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


# --- Withdrawing --------------------------------------------------------------------------------------


@pytest.mark.spec("Contract 9 Apps", "A submission can be withdrawn while no reviewer holds it")
def test_withdraw_makes_it_a_draft_again(app: App, submission: Submission, sam: User) -> None:
    with pytest.raises(NotFound):
        reviews.withdraw(app=app, developer=sam)
    withdrawn = reviews.withdraw(app=app, developer=app.developer, now=LATER)
    app.refresh_from_db()
    assert app.status == "DRAFT"
    assert (withdrawn.pk, withdrawn.status, withdrawn.decided_at) == (submission.pk, "WITHDRAWN", LATER)
    assert log(app) == [("SUBMITTED", "Dana", ""), ("WITHDRAWN", "Dana", "")]
    update_app(app=app, changes={"name": "New"})
    assert reviews.submit(app=app, developer=app.developer).status == "PENDING_REVIEW"


@pytest.mark.spec("Contract 9 Apps", "A submission that a reviewer holds can't be withdrawn (409)")
def test_withdraw_of_a_held_submission_is_a_conflict(app: App, submission: Submission, rita: User) -> None:
    reviews.take(submission=submission, reviewer=rita)
    with pytest.raises(Conflict, match="reviewer has started"):
        reviews.withdraw(app=app, developer=app.developer)
    app.refresh_from_db()
    assert app.status == "PENDING_REVIEW"
    reviews.release(submission=submission, reviewer=rita)
    assert reviews.withdraw(app=app, developer=app.developer).status == "WITHDRAWN"


@pytest.mark.parametrize("status", ["DRAFT", "APPROVED"])
def test_withdraw_without_a_review_is_a_conflict(app: App, status: str) -> None:
    App.objects.update(status=status)
    with pytest.raises(Conflict, match="not in review"):
        reviews.withdraw(app=app, developer=app.developer)


# --- Holding ------------------------------------------------------------------------------------------


def test_take_holds_the_submission_until_it_is_released(submission: Submission, rita: User) -> None:
    held = reviews.take(submission=submission, reviewer=rita, now=LATER)
    assert (held.reviewer, held.held_since) == (rita, LATER)
    assert reviews.take(submission=submission, reviewer=rita).held_since == LATER
    released = reviews.release(submission=submission, reviewer=rita)
    assert (released.reviewer, released.held_since) == (None, None)
    assert reviews.release(submission=submission, reviewer=rita).reviewer is None
    assert [kind for kind, _, _ in log(submission.app)] == ["SUBMITTED", "TAKEN", "RELEASED"]


def test_second_reviewer_is_told_who_holds_it(submission: Submission, rita: User, otto: User) -> None:
    reviews.take(submission=submission, reviewer=rita)
    for act in (reviews.take, reviews.release, reviews.approve):
        with pytest.raises(Conflict, match="Rita is reviewing"):
            act(submission=submission, reviewer=otto)
    with pytest.raises(Conflict, match="Rita is reviewing"):
        reviews.reject(submission=submission, reviewer=otto, notes="No.")
    submission.refresh_from_db()
    assert (submission.status, submission.reviewer) == ("PENDING_REVIEW", rita)


def test_nobody_decides_on_an_app_of_their_own(app: App, submission: Submission, dana: User) -> None:
    User.objects.filter(pk=dana.pk).update(is_staff=True, is_superuser=True)
    dana.refresh_from_db()
    acts = (
        lambda: reviews.take(submission=submission, reviewer=dana),
        lambda: reviews.approve(submission=submission, reviewer=dana),
        lambda: reviews.reject(submission=submission, reviewer=dana, notes="No."),
    )
    for act in acts:
        with pytest.raises(NotAllowed, match="a member of this app"):
            act()
    submission.refresh_from_db()
    assert (submission.status, submission.reviewer) == ("PENDING_REVIEW", None)
    suspended = reviews.suspend(app=app, reviewer=factories.reviewer(), reason="Spam.")
    with pytest.raises(NotAllowed, match="a member of this app"):
        reviews.reinstate(app=suspended, reviewer=dana)
    app.refresh_from_db()
    assert app.suspended_at is not None


def test_release_by_an_administrator_frees_what_somebody_else_holds(
    submission: Submission, rita: User, otto: User
) -> None:
    reviews.take(submission=submission, reviewer=rita)
    User.objects.filter(pk=otto.pk).update(is_superuser=True)
    otto.refresh_from_db()
    with pytest.raises(Conflict):
        reviews.approve(submission=submission, reviewer=otto)
    reviews.release(submission=submission, reviewer=otto)
    assert reviews.take(submission=submission, reviewer=otto).reviewer == otto


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_take_in_parallel_has_one_winner(app: App, rita: User, otto: User) -> None:
    submission = factories.submit(app)
    waiting = [rita, otto]
    outcomes = together(2, lambda: reviews.take(submission=submission, reviewer=waiting.pop()))
    assert sorted(outcomes) == ["Conflict", "Submission"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_withdraw_and_approve_at_once_have_one_winner(app: App, rita: User) -> None:
    submission = factories.submit(app)
    acts = [
        lambda: reviews.withdraw(app=app, developer=app.developer),
        lambda: reviews.approve(submission=submission, reviewer=rita),
    ]
    outcomes = together(2, lambda: acts.pop()())
    app.refresh_from_db()
    won = "AppVersion" if app.status == "APPROVED" else "Submission"
    assert sorted(outcomes) == sorted(["Conflict", won])
    assert AppVersion.objects.count() == (app.status == "APPROVED")


# --- Deciding -----------------------------------------------------------------------------------------


@pytest.mark.spec("States/App status", "Approval: published at once, approvedScopes updated")
def test_approve_freezes_the_working_copy(app: App, submission: Submission, rita: User) -> None:
    reviews.take(submission=submission, reviewer=rita, now=NOW)
    with heard(app_approved) as calls:
        version = reviews.approve(submission=submission, reviewer=rita, notes="Well done.", now=LATER)
    app = App.objects.select_related("approved_version").get(pk=app.pk)
    assert (app.status, app.approved_version, app.is_listed) == ("APPROVED", version, True)
    assert app.approved_scopes == app.scopes
    assert {name: getattr(version, name) for name in FROZEN_FIELDS} == {
        name: getattr(app, name) for name in FROZEN_FIELDS
    }
    assert (version.number, version.approved_at, version.followed_at) == (1, LATER, None)
    submission.refresh_from_db()
    assert (submission.status, submission.decided_at) == ("APPROVED", LATER)
    assert (submission.reviewer, submission.notes, submission.approved_version) == (
        rita,
        "Well done.",
        version,
    )
    assert calls == [{"app": app, "version": version, "now": LATER}]
    assert log(app)[1:] == [("TAKEN", "Rita", ""), ("APPROVED", "Rita", "Well done.")]


def test_approve_of_what_nobody_holds_is_allowed(app: App, submission: Submission, rita: User) -> None:
    reviews.approve(submission=submission, reviewer=rita)
    assert [kind for kind, _, _ in log(app)] == ["SUBMITTED", "APPROVED"]


@pytest.mark.spec(
    "Contract 2 Status", "Every approved version is kept, and an update in review delists nothing"
)
def test_approve_again_adds_a_version_and_leaves_the_first(app: App, dana: User, rita: User) -> None:
    first = approved(app, dana, rita)
    update_app(app=app, changes={"name": "Second", "scopes": ["read_orders"], "version": "2.0.0"})
    app.refresh_from_db()
    assert (app.status, app.is_listed, app.approved_version) == ("DRAFT", True, first)
    pending = reviews.submit(app=app, developer=dana, scope_reason="Fewer.")  # which asks for nothing
    app.refresh_from_db()
    assert (app.status, app.is_listed, app.approved_version) == ("PENDING_REVIEW", True, first)
    second = reviews.approve(submission=pending, reviewer=rita)
    assert (second.number, second.name, second.scopes) == (2, "Second", ["read_orders"])
    assert second.scope_reason == ""
    before = model_to_dict(first)
    first.refresh_from_db()
    assert model_to_dict(first) == before
    app.refresh_from_db()
    assert app.approved_version == second


def approved(app: App, developer: User, reviewer: User) -> AppVersion:
    submission = reviews.submit(app=app, developer=developer, now=NOW)
    return reviews.approve(submission=submission, reviewer=reviewer, now=NOW)


@pytest.mark.long
def test_pictures_of_every_approved_version_are_kept(app: App, dana: User, rita: User) -> None:
    app = update_app(app=app, changes={"icon": decode(upload()), "screenshots": [decode(upload())]})
    first = approved(app, dana, rita)
    app = update_app(app=app, changes={"icon": decode(upload()), "screenshots": [decode(upload())]})
    second = approved(app, dana, rita)
    update_app(app=app, changes={"icon": None, "screenshots": []})
    kept = {str(first.icon_id), str(second.icon_id), *first.screenshot_ids, *second.screenshot_ids}
    assert {str(picture.id) for picture in Picture.objects.all()} == kept
    assert len(kept) == 4


@pytest.mark.spec("States/App status", "Rejection: DRAFT with the reviewer's notes; edit and resubmit")
def test_reject_makes_it_a_draft_with_notes(app: App, submission: Submission, rita: User) -> None:
    findings = {"security": {"verdict": "FAIL", "note": "A bad signature got 200."}}
    Submission.objects.update(findings=findings)
    rejected = reviews.reject(submission=submission, reviewer=rita, notes=" Check signatures. ", now=LATER)
    app.refresh_from_db()
    assert (app.status, app.approved_version, app.is_listed) == ("DRAFT", None, False)
    assert (rejected.status, rejected.notes, rejected.findings) == ("REJECTED", "Check signatures.", findings)
    assert (rejected.reviewer, rejected.decided_at) == (rita, LATER)
    assert log(app)[1:] == [("REJECTED", "Rita", "Check signatures.")]
    update_app(app=app, changes={"name": "Better"})
    assert reviews.submit(app=app, developer=app.developer).status == "PENDING_REVIEW"
    assert list(app.submissions.order_by("id").values_list("status", flat=True)) == [
        "REJECTED",
        "PENDING_REVIEW",
    ]


def test_reject_of_an_update_leaves_the_approved_version_listed(app: App, dana: User, rita: User) -> None:
    first = approved(app, dana, rita)
    update_app(app=app, changes={"name": "Second"})
    reviews.reject(submission=reviews.submit(app=app, developer=dana), reviewer=rita, notes="No.")
    app.refresh_from_db()
    assert (app.status, app.approved_version, app.is_listed) == ("DRAFT", first, True)


@pytest.mark.parametrize("notes", ["", "  \n", "x" * 10_001])
def test_reject_without_notes_is_refused(app: App, submission: Submission, rita: User, notes: str) -> None:
    with pytest.raises(Invalid) as caught:
        reviews.reject(submission=submission, reviewer=rita, notes=notes)
    assert [problem["field"] for problem in caught.value.details] == ["notes"]
    app.refresh_from_db()
    assert app.status == "PENDING_REVIEW"


@pytest.mark.parametrize("status", [each for each in SubmissionStatus if each != "PENDING_REVIEW"])
def test_nothing_can_be_done_with_a_decided_submission(
    submission: Submission, rita: User, status: SubmissionStatus
) -> None:
    Submission.objects.update(status=status)
    for act in (reviews.take, reviews.release, reviews.approve):
        with pytest.raises(Conflict, match=r"already|withdrawn"):
            act(submission=submission, reviewer=rita)
    with pytest.raises(Conflict, match=r"already|withdrawn"):
        reviews.reject(submission=submission, reviewer=rita, notes="No.")
    assert [kind for kind, _, _ in log(submission.app)] == ["SUBMITTED"]


# --- Suspending ---------------------------------------------------------------------------------------


def test_suspend_delists_and_reinstate_lists_again(app: App, dana: User, rita: User) -> None:
    approved(app, dana, rita)
    with heard(app_suspended) as suspensions:
        suspended = reviews.suspend(app=app, reviewer=rita, reason="Sold data.", now=NOW)
    assert (suspended.is_listed, suspended.suspended_at) == (False, NOW)
    assert suspended.suspension_reason == "Sold data."
    assert suspensions == [{"app": app, "now": NOW}]
    with heard(app_reinstated) as ends:
        lifted = reviews.reinstate(app=app, reviewer=rita, now=LATER)
    assert (lifted.is_listed, lifted.suspended_at, lifted.suspension_reason) == (True, None, "")
    assert ends == [{"app": app, "now": LATER}]
    assert log(app)[2:] == [("SUSPENDED", "Rita", "Sold data."), ("REINSTATED", "Rita", "")]


def test_suspend_twice_and_reinstate_twice_are_conflicts(app: App, rita: User) -> None:
    with pytest.raises(Conflict, match="not suspended"):
        reviews.reinstate(app=app, reviewer=rita)
    reviews.suspend(app=app, reviewer=rita, reason="Sold data.")
    with pytest.raises(Conflict, match="already suspended"):
        reviews.suspend(app=app, reviewer=rita, reason="Again.")


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_suspend_without_a_reason_is_refused(app: App, rita: User, reason: str) -> None:
    with pytest.raises(Invalid) as caught:
        reviews.suspend(app=app, reviewer=rita, reason=reason)
    assert [problem["field"] for problem in caught.value.details] == ["reason"]


def test_approve_of_a_suspended_app_leaves_it_unlisted(app: App, submission: Submission, rita: User) -> None:
    reviews.suspend(app=app, reviewer=rita, reason="Sold data.")
    reviews.approve(submission=submission, reviewer=rita)
    app.refresh_from_db()
    assert (app.status, app.is_listed) == ("APPROVED", False)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_approval_that_had_to_wait_is_dated_after_whoever_it_waited_for(
    submission: Submission, rita: User
) -> None:
    """A consent that holds the app's lock came before it, and says so by its time."""

    def approve() -> AppVersion:
        try:
            return reviews.approve(submission=submission, reviewer=rita)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            App.objects.select_for_update().get(pk=submission.app_id)
            version = pool.submit(approve)
            wait_for_locks(1)
            consented_at = timezone.now()
        assert version.result(10).approved_at > consented_at


# --- The log, deletion, the factories -----------------------------------------------------------------


def test_review_log_can_be_neither_changed_nor_removed(app: App, submission: Submission) -> None:
    entry = ReviewEntry.objects.get()
    entry.note = "Something else."
    acts: list[Callable[[], object]] = [
        entry.save,
        entry.delete,
        lambda: ReviewEntry.objects.update(note="x"),
        lambda: ReviewEntry.objects.bulk_update([entry], ["note"]),
        ReviewEntry.objects.all().delete,
        lambda: app.review_log.update(note="x"),
        app.review_log.all().delete,
    ]
    for act in acts:
        with pytest.raises(ReadOnlyLogError):
            act()
    with pytest.raises(Exception, match="protected foreign keys"):
        App.objects.all().delete()
    assert log(app) == [("SUBMITTED", "Dana", "")]


@pytest.mark.spec("Contract 9 Apps", "Test installs and deletion are allowed in PENDING_REVIEW")
def test_delete_in_review_takes_the_submission_out_of_the_queue(
    app: App, submission: Submission, rita: User
) -> None:
    reviews.take(submission=submission, reviewer=rita)
    delete_app(app=app, now=LATER)
    app.refresh_from_db()
    submission.refresh_from_db()
    assert (app.status, submission.status, submission.decided_at) == ("DRAFT", "WITHDRAWN", LATER)
    assert log(app)[-1] == ("WITHDRAWN", "Dana", "The app was deleted.")
    with pytest.raises(NotFound):
        reviews.approve(submission=submission, reviewer=rita)


@pytest.mark.long
def test_factories_leave_what_the_services_leave(dana: User, rita: User) -> None:
    made = factories.app(dana, name="Twin")
    served = factories.app(dana, name="Twin")
    factories.approve(made)
    approved(served, dana, rita)
    assert _traces(made) == _traces(served)
    for app in (made, served):
        update_app(app=app, changes={"scopes": ["read_orders"]})
    factories.submit(App.objects.get(pk=made.pk))
    reviews.submit(app=served, developer=dana)
    assert _traces(made) == _traces(served)


def _traces(app: App) -> tuple[object, ...]:
    """All that a review leaves behind, times and ids aside."""
    app = App.objects.get(pk=app.pk)
    submissions = app.submissions.order_by("id").values_list(
        "status", "version", "added_scopes", "removed_scopes", "reviewer", "notes", "approved_version__number"
    )
    versions = app.versions.order_by("id").values_list("number", "name", "scopes", "scope_reason")
    return app.status, app.approved_scopes, list(submissions), list(versions), log(app)
