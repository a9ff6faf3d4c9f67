"""The result of a run by rule."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.enums import Outcome
from conformance.models import Run
from conformance.probes import Finding, findings_of
from conformance.rules import RULES, Rule


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
    """Results in groups: those that weren't tried for one reason together, each other one alone."""
    groups: dict[object, list[RuleResult]] = {}
    for result in results:
        reason = tuple(result.details) if result.outcome == Outcome.SKIPPED else result.rule.id
        groups.setdefault(reason, []).append(result)
    return list(groups.values())


def summary_of(run: Run) -> Counter[Outcome]:
    """How many rules had each outcome."""
    return Counter(result.outcome for result in results_of(run))


def _worst(findings: Iterable[Finding]) -> list[Finding]:
    """Passed counts more than not tried: a part of the rule was tried."""
    order = [Outcome.FAIL, Outcome.WARN, Outcome.PASS, Outcome.SKIPPED]
    ranked = sorted(findings, key=lambda finding: order.index(finding.outcome))
    return [finding for finding in ranked if finding.outcome == ranked[0].outcome]
