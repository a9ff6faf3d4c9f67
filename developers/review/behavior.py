"""The check of how an app's server behaves, as evidence: a run of `conformance` by the platform itself."""

from collections.abc import Iterator
from datetime import timedelta

from common.errors import ServiceError
from common.http import transport
from conformance.results import results_of
from conformance.rules import RULES
from conformance.services.sending import check_app
from extensions.evidence import Evidence, Outcome
from marketplace.models import Submission
from webhooks.diagnosis import in_short

REACHED_WITHIN = 5.0  # seconds


def tried(submission: Submission, *, lasts: timedelta) -> Iterator[Evidence]:
    """Each rule with what was seen. A server that doesn't respond at all isn't tried any further."""
    url = submission.app.redirect_url
    exchange = transport.send(
        url, submission.app_id, method="GET", headers={}, body=b"", timeout=REACHED_WITHIN, max_body=0
    )
    if exchange.status is None:
        reason = in_short(None, exchange.error_class or "")
        yield _evidence(
            "IN001", Outcome.FAIL, f"{url} doesn't respond ({reason}), so nothing else was tried."
        )
        return
    try:
        run = check_app(app=submission.app, lasts=lasts)
    except ServiceError as error:
        yield Evidence(Outcome.SKIPPED, error.message)
        return
    for result in results_of(run):
        for detail in result.details:
            yield _evidence(result.rule.id, result.outcome, detail)


def _evidence(rule: str, outcome: Outcome, text: str) -> Evidence:
    return Evidence(outcome, f"{RULES[rule].title}. {text}", rule, RULES[rule].address)
