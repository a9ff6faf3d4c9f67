"""Answers to requests."""

from collections import Counter
from collections.abc import Iterator

from tools.soak.figures.finding import Finding, none_of
from tools.soak.run import Run

REPAIRED_WITHIN = "of the time a fault was a reason"


def requests(run: Run) -> Iterator[Finding]:
    by_status: Counter[int] = Counter()
    for (_, status), number in run.ledger.answers.items():
        by_status[status] += number
    yield Finding(
        "requests", ", ".join(f"{status}: {number:,}" for status, number in sorted(by_status.items()))
    )


def failed(run: Run) -> Iterator[Finding]:
    yield none_of("failed requests, apart from 503", sorted(set(run.ledger.failures)))


def away(run: Run) -> Iterator[Finding]:
    """503, and no answer at all, come only of faults that the table allows it."""
    for name, is_answer in (("503", True), ("no answer", False)):
        found = [each for each in run.ledger.away if each.is_answer == is_answer]
        outside = [each.route for each in found if not run.windows.excuse_request(each.at)]
        share = run.windows.share(requests=True)
        yield none_of(
            f"{name} outside of a fault ({share} {REPAIRED_WITHIN})",
            outside,
            of=len(found),
            by_speed=is_answer,
        )


def retry_after(run: Run) -> Iterator[Finding]:
    # The /readyz of the first release has none.
    wrong = [
        each.route for each in run.ledger.away if not each.has_retry_after and each.route != "GET /readyz"
    ]
    yield none_of("503 without Retry-After", wrong)


FIGURES = (requests, failed, away, retry_after)
