"""The automatic checks of a submission. They run when a reviewer asks, and their result is kept with its time.

A check is a title and a function from the app, whose working copy can't change while it is in review, to the
evidence. To add one, put it into `CHECKS`.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.dateparse import parse_datetime

from common.transactions import forbid_transaction
from developers.review import frames, hook_signatures, pictures, signatures, urls
from developers.review.evidence import Evidence, Outcome
from marketplace.models import App, Submission
from marketplace.services.findings import record_checks


@dataclass(frozen=True, slots=True)
class Check:
    title: str
    run: Callable[[App], Iterable[Evidence]]


CHECKS: Final = (
    Check("Redirect URL", urls.redirect_url),
    Check("Webhook URL", urls.webhook_url),
    Check("Pictures", pictures.pictures),
    Check("Signatures", signatures.signatures),
    Check("Frames and scripts", frames.frames),
    Check("Signatures of hook calls", hook_signatures.hook_signatures),
)
"""In the order of the page. One that waits for the app's server ends by itself, within some twenty seconds."""


def run_checks(*, submission: Submission, now: datetime | None = None) -> Submission:
    """Run all and keep what they found. Raises `Conflict` for a submission that is decided."""
    forbid_transaction()
    results = [
        {
            "title": check.title,
            "evidence": [
                {"outcome": each.outcome.value, "text": each.text} for each in check.run(submission.app)
            ],
        }
        for check in CHECKS
    ]
    return record_checks(submission=submission, results=results, now=now)


@dataclass(frozen=True, slots=True)
class Result:
    """What one check found."""

    title: str
    evidence: list[Evidence]

    @property
    def outcome(self) -> Outcome:
        """The worst line decides."""
        order = list(Outcome)
        return max((each.outcome for each in self.evidence), key=order.index, default=Outcome.SKIPPED)


def checked_at(submission: Submission) -> datetime | None:
    """When the checks ran last; None before they ever did."""
    return parse_datetime(submission.checks["at"]) if submission.checks else None


def results_of(submission: Submission) -> list[Result]:
    """What the checks found when they ran last."""
    return [
        Result(
            result["title"], [Evidence(Outcome(each["outcome"]), each["text"]) for each in result["evidence"]]
        )
        for result in submission.checks.get("results", ())
    ]


def in_short(submission: Submission) -> str:
    """For a narrow column: "1 failed, 2 to look at"."""
    results = results_of(submission)
    if not results:
        return "Not run yet"
    count = Counter(result.outcome for result in results)
    words = [
        f"{count[outcome]} {said}"
        for outcome, said in (
            (Outcome.FAIL, "failed"),
            (Outcome.WARN, "to look at"),
            (Outcome.SKIPPED, "not checked"),
        )
        if count[outcome]
    ]
    return ", ".join(words) or f"All {len(results)} passed"
