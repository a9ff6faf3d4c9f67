"""The result of a run by rule; and what the weekly checks of listed apps found, for pages and mails."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet

from conformance.enums import Outcome, Sender
from conformance.models import FAILED_WEEKS, Run, WeeklyCheck
from conformance.probes import Finding, findings_of
from conformance.rules import LATE, RULES, Rule
from marketplace.models import App


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that a listed app doesn't follow any more, and what was seen."""

    rule: Rule
    detail: str


def not_passing() -> "QuerySet[WeeklyCheck]":
    """Listed apps that have failed three weeks in a row, the longest first. None while the operator has turned checks off."""
    if not settings.WEEKLY_CHECKS:
        return WeeklyCheck.objects.none()
    rows = WeeklyCheck.objects.filter(failed_weeks__gte=FAILED_WEEKS, app__in=App.objects.listed())
    return rows.select_related("app__approved_version").order_by("failing_since", "pk")


def not_passing_since(app: App) -> datetime | None:
    """Since when its listing says so."""
    return not_passing().filter(app=app).values_list("failing_since", flat=True).first()


def weekly_check_of(app: App) -> WeeklyCheck | None:
    """None while the operator has turned checks off, and before the first plan."""
    return WeeklyCheck.objects.filter(app=app).first() if settings.WEEKLY_CHECKS and app.is_listed else None


def last_weekly_run(app: App) -> Run | None:
    """Results are kept for 30 days."""
    ended = Run.objects.filter(app=app, sender=Sender.WEEKLY, ended_at__isnull=False)
    return ended.order_by("-started_at").first()


def broken_rules(row: WeeklyCheck, run: Run | None) -> list[Broken]:
    """In the order of the rules, with what the run saw."""
    seen = {each.rule.id: " ".join(each.details) for each in results_of(run)} if run else {}
    return [Broken(rule, seen.get(rule.id, "")) for rule in rules_of(row.failed_rules)]


def rules_of(ids: Iterable[str]) -> list[Rule]:
    known = set(ids)
    return [rule for rule in (*RULES.values(), LATE) if rule.id in known]


# --- A run by rule -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleResult:
    """`findings` are the ones that decide: those with the worst outcome."""

    rule: Rule
    findings: list[Finding]

    @property
    def outcome(self) -> Outcome:
        return self.findings[0].outcome

    @property
    def details(self) -> list[str]:
        return [finding.text for finding in self.findings]


def results_of(run: Run) -> list[RuleResult]:
    """Of each rule with a finding, in the order of the rules."""
    found = findings_of(run.findings)
    return [
        RuleResult(rule, worst)
        for rule in RULES.values()
        if (worst := _worst(finding for finding in found if finding.rule == rule.id))
    ]


def by_reason(results: Iterable[RuleResult]) -> list[list[RuleResult]]:
    """Results in groups: those that weren't tried for one reason together, and those of requests that had no response; each other one
    alone.
    """
    groups: dict[object, list[RuleResult]] = {}
    for result in results:
        reason: object = result.rule.id
        if result.outcome == Outcome.SKIPPED:
            reason = tuple(result.details)
        elif result.outcome == Outcome.FAIL and (error := unanswered(result)):
            reason = Outcome.FAIL, error
        groups.setdefault(reason, []).append(result)
    return list(groups.values())


def unanswered(result: RuleResult) -> str:
    """Why its requests had no response, or empty where one had."""
    errors = {finding.no_response for finding in result.findings}
    return errors.pop() if len(errors) == 1 else ""


def summary_of(run: Run) -> Counter[Outcome]:
    """How many rules had each outcome."""
    return Counter(result.outcome for result in results_of(run))


def _worst(findings: Iterable[Finding]) -> list[Finding]:
    """Passed counts more than not tried: a part of the rule was tried."""
    order = [Outcome.FAIL, Outcome.WARN, Outcome.PASS, Outcome.SKIPPED]
    ranked = sorted(findings, key=lambda finding: order.index(finding.outcome))
    return [finding for finding in ranked if finding.outcome == ranked[0].outcome]
