"""The automatic checks of a submission. They run in the background once it is submitted, and whenever a reviewer asks.

A check is a title and a function from the submission to evidence. The app's working copy can't change while it is in
review. To add a check, add it to `CHECKS`. Every run is kept with its time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.template.defaultfilters import filesizeformat
from django.utils.dateparse import parse_datetime

from conformance.enums import Outcome
from marketplace import rules
from marketplace.enums import SubmissionStatus
from marketplace.models import App, Picture, Submission
from marketplace.queries import listed_lookalikes
from marketplace.services.findings import CHECKS_TRIES


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence for the reviewer, and how good it is. `rule` names what was tried, and `address` explains it."""

    outcome: Outcome
    text: str
    rule: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    title: str
    run: Callable[[Submission], Iterable[Evidence]]


def _of_app(check: Callable[[App], Iterable[Evidence]]) -> Callable[[Submission], Iterable[Evidence]]:
    return lambda submission: check(submission.app)


def listing(submission: Submission) -> Iterator[Evidence]:
    """Whether the developer filled in what a merchant and a reviewer need. A reviewer can't test without notes."""
    app = submission.app
    if rules.is_short(app.description):
        yield Evidence(Outcome.WARN, "The description is only a few words. It hardly explains the app.")
    if not submission.how_to_test:
        yield Evidence(Outcome.FAIL, "No test notes: the developer hasn't explained how to test the app.")
    if not app.icon_id:
        yield Evidence(Outcome.WARN, "No icon. The listing shows the first letter of the app's name.")
    if not app.screenshot_ids:
        yield Evidence(Outcome.WARN, "No screenshots.")
    elif app.icon_id:
        yield Evidence(Outcome.PASS, "Icon and screenshots are there.")


def name(app: App) -> Iterator[Evidence]:
    """Merchants must not take the app for another developer's."""
    similar = listed_lookalikes(app)
    for warning in similar.warnings:
        yield Evidence(Outcome.WARN, warning)
    if not similar.apps:
        yield Evidence(Outcome.PASS, "No other developer's listed app has a name that looks like it.")


def redirect_url(app: App) -> Iterator[Evidence]:
    yield _judge_url(app.redirect_url, rules.redirect_url)


def webhook_url(app: App) -> Iterator[Evidence]:
    if not app.webhook_url:
        yield Evidence(Outcome.PASS, "The app has no Webhook URL, so we send it no webhooks of its own.")
        return
    evidence = _judge_url(app.webhook_url, rules.webhook_url)
    yield evidence
    if evidence.outcome != Outcome.FAIL:
        yield _reachable(app.webhook_url)


def _judge_url(url: str, rule: Callable[[str], None]) -> Evidence:
    """Applies the current rule, which may be stricter than the one when the URL was entered."""
    try:
        rule(url)
    except ValueError as error:
        return Evidence(Outcome.FAIL, f"{url} is no longer accepted: {error}")
    if not url.startswith("https://"):
        return Evidence(Outcome.WARN, f"{url} is plain HTTP, which is accepted only in development.")
    return Evidence(Outcome.PASS, f"{url} is HTTPS.")


def _reachable(url: str) -> Evidence:
    try:
        rules.reachable(url)
    except ValueError as error:
        return Evidence(Outcome.FAIL, str(error))
    return Evidence(Outcome.PASS, "The host has a public address.")


def pictures(app: App) -> Iterator[Evidence]:
    """Icon and screenshots can be read, and are large enough to look good."""
    if app.icon:
        yield _icon(app.icon)
    found = app.pictures.in_bulk(app.screenshot_ids)
    by_id = {str(picture.id): picture for picture in found.values()}
    for number, picture_id in enumerate(app.screenshot_ids, 1):
        yield _screenshot(number, by_id.get(picture_id))
    if not app.icon and not app.screenshot_ids:
        yield Evidence(Outcome.SKIPPED, "The app has no pictures.")


def _icon(icon: Picture) -> Evidence:
    size = _size(icon)
    if size is None:
        return Evidence(Outcome.FAIL, "The icon's file can't be read.")
    if icon.width != icon.height:
        return Evidence(Outcome.WARN, f"The icon isn't square: {size}.")
    if icon.width < rules.ICON_WIDTH:
        return Evidence(
            Outcome.WARN, f"The icon is small: {size}. Recommended: {rules.ICON_WIDTH} pixels or more."
        )
    return Evidence(Outcome.PASS, f"Icon: {size}.")


def _screenshot(number: int, picture: Picture | None) -> Evidence:
    size = _size(picture) if picture else None
    if picture is None or size is None:
        return Evidence(Outcome.FAIL, f"The file of screenshot {number} can't be read.")
    if picture.width < rules.SCREENSHOT_WIDTH:
        return Evidence(
            Outcome.WARN,
            f"Screenshot {number} is small: {size}. Recommended: {rules.SCREENSHOT_WIDTH:,} pixels wide or more.",
        )
    return Evidence(Outcome.PASS, f"Screenshot {number}: {size}.")


def _size(picture: Picture) -> str | None:
    """Dimensions and file size. None if the storage has no such file."""
    try:
        size = filesizeformat(picture.file.size)
    except OSError:
        return None
    return f"{picture.width} × {picture.height} pixels, {size}"


CHECKS: Final = (
    Check("Listing", listing),
    Check("Name", _of_app(name)),
    Check("Redirect URL", _of_app(redirect_url)),
    Check("Webhook URL", _of_app(webhook_url)),
    Check("Pictures", _of_app(pictures)),
)
"""In the page's order. The app's server is tried by `conformance`, after these (`check_runs`)."""


def are_running(submission: Submission) -> bool:
    """Whether results are on their way: the checks are due, and they were not tried too often."""
    return (
        submission.status == SubmissionStatus.PENDING_REVIEW
        and submission.checks_due_at is not None
        and submission.checks_tries < CHECKS_TRIES
    )


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    title: str
    evidence: list[Evidence]

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of all lines."""
        order = list(Outcome)
        return max((each.outcome for each in self.evidence), key=order.index, default=Outcome.SKIPPED)


def checked_at(submission: Submission) -> datetime | None:
    """When the checks last ran; None if they never did."""
    return parse_datetime(submission.checks["at"]) if submission.checks else None


def results_of(submission: Submission) -> list[CheckResult]:
    """The results of the last run."""
    return [
        CheckResult(
            result["title"],
            [Evidence(**each | {"outcome": Outcome(each["outcome"])}) for each in result["evidence"]],
        )
        for result in submission.checks.get("results", ())
    ]


def summary_of(submission: Submission) -> str:
    """A short summary for a narrow column: "1 failed, 2 warnings"."""
    results = results_of(submission)
    if not results:
        return "Running" if are_running(submission) else "Not run yet"
    count = Counter(result.outcome for result in results)
    parts = [
        f"{count[outcome]} {label if count[outcome] == 1 else label_of_several}"
        for outcome, label, label_of_several in (
            (Outcome.FAIL, "failed", "failed"),
            (Outcome.WARN, "warning", "warnings"),
            (Outcome.SKIPPED, "not checked", "not checked"),
        )
        if count[outcome]
    ]
    return ", ".join(parts) or f"All {len(results)} passed"


def titles(submission: Submission, outcome: Outcome) -> list[str]:
    """The titles of the checks with this outcome."""
    return [result.title for result in results_of(submission) if result.outcome == outcome]


def objections(submission: Submission) -> str:
    """What the checks say against an approval, as one sentence for the log. Empty if all went well."""
    if not submission.checks:
        return "Approved before the automatic checks had run."
    failed, warned = titles(submission, Outcome.FAIL), titles(submission, Outcome.WARN)
    if not failed and not warned:
        return ""
    counted = [
        f"{len(names)} {'check' if len(names) == 1 else 'checks'} {said}: {', '.join(names)}"
        for names, said in ((failed, "had failed"), (warned, "had warnings"))
        if names
    ]
    return f"Approved although {', and '.join(counted)}."
