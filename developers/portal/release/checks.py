"""Runs of `check` of an app: the author's from the command line, and the platform's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.db.rows import get_or_not_found
from common.strangers import may_wait_for_strangers
from common.web.forms.pages import refusals_shown
from common.web.methods import GET_OR_POST, require_safe
from conformance import queries
from conformance.enums import Outcome, RunStatus
from conformance.models import Run
from conformance.queries import RuleResult
from conformance.services.runs import NEEDS_MORE, STORE_KEPT, check_for_developer
from developers.portal.access import app_page
from marketplace.models import App

SHOWN: Final = 30  # runs
FOLDED: Final = 4  # rules that were left out for one reason
SLOW: Final = "Timeout"

# Kind and icon of the pill.
PILLS: Final = {
    Outcome.PASS: ("ok", "check"),
    Outcome.SKIPPED: ("neutral", "minus"),
    Outcome.WARN: ("warn", "triangle-alert"),
    Outcome.FAIL: ("bad", "circle-x"),
}

# Kind, icon and word of the pill.
STATUS_PILLS: Final = {
    RunStatus.RUNNING: ("info", "clock", "Running"),
    RunStatus.PASSED: ("ok", "check", "Passed"),
    RunStatus.FAILED: ("bad", "circle-x", "Failed"),
    RunStatus.EXPIRED: ("neutral", "minus", "Stopped"),
}


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run as the pages show it."""

    run: Run

    @property
    def pill(self) -> tuple[str, str, str]:
        return STATUS_PILLS[RunStatus(self.run.status)]

    @property
    def about(self) -> str:
        """`31 passed, 2 failed`."""
        counts = queries.summary_of(self.run)
        words = {
            Outcome.PASS: "passed",
            Outcome.FAIL: "failed",
            Outcome.WARN: "with a warning",
            Outcome.SKIPPED: "not tried",
        }
        return ", ".join(f"{counts[outcome]} {word}" for outcome, word in words.items() if counts[outcome])

    @property
    def server(self) -> str:
        return self.run.origin or "Registered URLs"


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@app_page
def check_list(request: HttpRequest, app: App) -> HttpResponse:
    """POST has the platform check the registered URLs, and waits for the results, at most 15 seconds."""
    if request.method == "POST":
        with refusals_shown(request):
            return redirect("portal:check", app.slug, check_for_developer(app).pk)
        return redirect("portal:checks", app.slug)
    weekly = queries.weekly_check_of(app)
    runs = Run.objects.filter(app=app).order_by("-started_at")[:SHOWN]
    context = {
        "app": app,
        "rows": [RunRow(run) for run in runs],
        "days": STORE_KEPT.days,
        "weekly": weekly,
        "broken": queries.broken_rules(weekly, queries.last_weekly_run(app))
        if weekly and weekly.failed_rules
        else [],
    }
    return render(request, "developers/portal/release/checks.html", context)


@require_safe
@app_page
def check(request: HttpRequest, app: App, run_id: str) -> HttpResponse:
    """Each rule with what was seen."""
    run = get_or_not_found(Run.objects.filter(app=app), run_id, "Check not found")
    order = [Outcome.FAIL, Outcome.WARN, Outcome.SKIPPED, Outcome.PASS]
    results = sorted(queries.results_of(run), key=lambda result: order.index(result.outcome))
    context = {
        "app": app,
        "row": RunRow(run),
        "groups": [(group, *PILLS[group[0].outcome], _title(group)) for group in queries.by_reason(results)],
        "start_with": next((each for each in results if each.outcome == Outcome.FAIL), None),
        "untried": sum(each.details == [NEEDS_MORE] for each in results),
    }
    return render(request, "developers/portal/release/check.html", context)


def _title(group: Sequence[RuleResult]) -> str:
    """What rules with one cause have in common; empty where each rule is shown."""
    number, first = len(group), group[0]
    if first.outcome == Outcome.FAIL and number > 1:
        error = queries.unanswered(first)
        cause = "doesn’t answer in time" if error == SLOW else f"can’t be reached ({error})"
        return f"Your server {cause}: {number} rules"
    if first.outcome == Outcome.SKIPPED and number >= FOLDED:
        return f"{number} rules weren’t tried"
    return ""
