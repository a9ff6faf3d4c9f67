"""What the weekly checks of listed apps found, for pages and mails."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import QuerySet

from conformance.enums import Sender
from conformance.models import FAILED_WEEKS, Run, WeeklyCheck
from conformance.results import results_of
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
