"""Two apps in review: one whose checks have passed, and one with a check that failed."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from conformance.enums import Outcome
from conformance.rules import RULES
from developers.review import risks
from developers.review.checks import CHECKS, Evidence
from marketplace.enums import AppStatus, ReviewKind
from marketplace.models import App, ReviewEntry, Submission
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


def put_in_review(*, apps: Mapping[str, App], now: datetime) -> None:
    _submit(apps["thank-you-notes"], now - timedelta(hours=20), SEEN)
    _submit(apps["tax-ledger"], now - timedelta(hours=7), SEEN | {"IN003": NOT_REFUSED})


def _submit(app: App, at: datetime, seen: Mapping[str, str]) -> None:
    app.status = AppStatus.PENDING_REVIEW
    app.save(update_fields=["status"])
    submission = Submission.objects.create(
        app=app, version=app.version, developer_name=app.developer.name, submitted_at=at, added_scopes=app.scopes,
        how_to_test="Sign in as kim@example.com.\nThe app's page is empty at first; order something to fill it.",
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
