"""In review: an app whose checks have passed, one with a check that failed, and an update. Another update was rejected."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from accounts.models import User
from config.demo.people import REVIEWER
from conformance.enums import Outcome
from conformance.rules import RULES
from developers.review import risks
from developers.review.checks import CHECKS, Evidence
from marketplace.enums import AppStatus, ReviewKind, SubmissionStatus
from marketplace.models import App, ReviewEntry, Submission
from marketplace.queries import scope_changes
from marketplace.scopes import in_order
from marketplace.services.findings import record_checks

SEEN: Final = {
    "IN001": "The app exchanged the code 0.4 s after its Redirect URL had received it.",
    "IN002": "The second visit showed the app's page.",
    "IN003": "A state of another browser was refused with 400.",
    "IN004": "GET /callback?error=access_denied: responded 200",
    "TK001": "After the token had stopped working, the app asked its merchant to connect again.",
    "LC001": "The app exchanged the code of the second install.",
}
NOT_REFUSED: Final = "A state that the app hadn't issued: responded 200. Anybody could connect their own store to another person's account."
NOTES: Final = "Nice idea.\n\nMend the two points above, then submit it again."
FINDINGS: Final = {
    "functionality": {"verdict": "FAIL", "note": "On a phone the card is cut off on the right."},
    "security": {
        "verdict": "FAIL",
        "note": "A request with a bad signature got 200. Answer it with 401.",
    },
}


def put_in_review(*, apps: Mapping[str, App], now: datetime) -> None:
    _submit(apps["thank-you-notes"], now - timedelta(hours=20), SEEN)
    _submit(apps["tax-ledger"], now - timedelta(hours=7), SEEN | {"IN003": NOT_REFUSED})
    update = _changed(
        apps["shelf-watch"], "1.5.0", "read_orders", " It counts what is ordered for later, too."
    )
    _submit(update, now - timedelta(hours=3), SEEN, "To count what customers ordered for the days to come.")
    rejected = _changed(
        apps["stamp-card"], "1.2.0", "read_business", " Cards may have the colors of your store."
    )
    _reject(_submit(rejected, now - timedelta(days=3), SEEN, "To know your colors."), now - timedelta(days=2))


def _changed(app: App, version: str, scope: str, more: str) -> App:
    app.version, app.scopes, app.description = version, in_order({*app.scopes, scope}), app.description + more
    app.save()
    return app


def _reject(submission: Submission, at: datetime) -> None:
    reviewer = User.objects.get(email=REVIEWER)
    submission.status, submission.reviewer, submission.decided_at = SubmissionStatus.REJECTED, reviewer, at
    submission.notes, submission.findings = NOTES, FINDINGS
    submission.save()
    submission.app.status = AppStatus.DRAFT
    submission.app.save(update_fields=["status"])
    ReviewEntry.objects.create(
        app=submission.app, submission=submission, kind=ReviewKind.REJECTED, actor=reviewer, at=at
    )


def _submit(app: App, at: datetime, seen: Mapping[str, str], scope_reason: str = "") -> Submission:
    app.status = AppStatus.PENDING_REVIEW
    app.save(update_fields=["status"])
    submission = Submission.objects.create(
        app=app, version=app.version, developer_name=app.developer.name, submitted_at=at, scope_reason=scope_reason,
        how_to_test="Sign in as kim@example.com.\nThe app's page is empty at first; order something to fill it.",
        **scope_changes(app),
    )  # fmt: skip
    ReviewEntry.objects.create(
        app=app, submission=submission, kind=ReviewKind.SUBMITTED, actor=app.developer, at=at
    )
    results = [
        {"title": each.title, "evidence": [_stored(line) for line in each.run(submission)]} for each in CHECKS
    ]
    behavior = {"title": "Behavior", "evidence": [_behavior(rule, text) for rule, text in seen.items()]}
    record_checks(submission=submission, results=[*results, behavior], now=at + timedelta(minutes=1))
    risks.assess(submission)
    return submission


def _stored(evidence: Evidence) -> dict[str, Any]:
    return {"outcome": evidence.outcome.value, "text": evidence.text}


def _behavior(rule: str, text: str) -> dict[str, Any]:
    outcome = Outcome.FAIL if text == NOT_REFUSED else Outcome.PASS
    return {
        "outcome": outcome.value,
        "text": f"{RULES[rule].title}. {text}",
        "rule": rule,
        "address": RULES[rule].address,
    }
