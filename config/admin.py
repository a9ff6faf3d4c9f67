"""The operators' page of service levels: the objectives of `common.observability.objectives`, as this installation has kept them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import floor
from typing import Any, Final

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone

from common.db.replica import may_lag
from common.models import ObjectiveCount
from common.observability.objectives import (
    BURNS,
    LEAST_BAD,
    OBJECTIVES,
    WINDOW,
    Objective,
    begin_of_step,
)
from common.web.admin import ReadOnly
from common.web.charts import Chart, Point, Series, chart

HOUR: Final = timedelta(hours=1)
SHOWN: Final = (WINDOW, timedelta(hours=24), HOUR)
WINDOWS: Final = tuple({*SHOWN, *(window for burn in BURNS for window in (burn.long, burn.short))})
STATES: Final = {"BudgetBurnsFast": ("bad", "Burns fast"), "BudgetBurnsSlowly": ("warn", "Burns slowly")}


@dataclass(frozen=True, slots=True)
class Events:
    good: int = 0
    bad: int = 0

    @property
    def all(self) -> int:
        return self.good + self.bad

    @property
    def good_share(self) -> str:
        """In per cent, and 100 only if nothing was bad."""
        return f"{floor(self.good * 10_000 / self.all) / 100:.2f}%" if self.all else "–"


@dataclass(frozen=True, slots=True)
class Level:
    """What is known of one objective."""

    objective: Objective
    windows: Mapping[timedelta, Events]
    days: Mapping[date, Events]

    @property
    def target(self) -> str:
        return f"{100 * self.objective.target:g}%"

    @property
    def shares(self) -> list[Events]:
        return [self.windows[window] for window in SHOWN]

    def burn(self, window: timedelta) -> float:
        """How many times as fast as it may the budget burned."""
        events = self.windows[window]
        return events.bad / events.all / self.objective.budget if events.all else 0.0

    @property
    def burn_now(self) -> str:
        return f"{self.burn(HOUR):.1f} ×" if self.windows[HOUR].all else "–"

    @property
    def left(self) -> str:
        used = self.burn(WINDOW)
        if not self.windows[WINDOW].all:
            return "–"
        return f"{floor(100 * (1 - used))}%" if used <= 1 else f"0%, used {used:.1f} times"

    @property
    def state(self) -> tuple[str, str]:
        """The kind and the words of its pill: the first alert that fires, by the same windows."""
        for burn in BURNS:
            burns = min(self.burn(burn.long), self.burn(burn.short)) > burn.factor
            if burns and self.windows[burn.long].bad >= LEAST_BAD:
                return STATES[burn.alert]
        if self.burn(WINDOW) >= 1:
            return "bad", "Used up"
        return ("ok", "Within budget") if self.windows[WINDOW].all else ("neutral", "Nothing counted")

    @property
    def chart(self) -> Chart:
        """What each day used of the budget of all 30, in per cent."""
        allowed = self.windows[WINDOW].all * self.objective.budget
        used = [100 * events.bad / allowed if allowed else 0.0 for events in self.days.values()]
        return chart(
            self.objective.name,
            self.objective.title,
            [Point(day) for day in self.days],
            [Series("Budget used", "bad", used)],
            empty="Nothing of the budget was used.",
            write=lambda value: f"{value:.3g}%",
        )


def levels(now: datetime) -> list[Level]:
    """Of all objectives. Two statements."""
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=ago) for ago in range(WINDOW.days - 1, -1, -1)]
    by_window, by_day = _sums(now), _sums_by_day(days[0])
    return [
        Level(each, by_window[each.name], {day: by_day[each.name, day] for day in days})
        for each in OBJECTIVES
    ]


@may_lag
def _sums(now: datetime) -> dict[str, dict[timedelta, Events]]:
    """Of each objective and window. A window begins with the five minutes that its first moment is in."""
    sums: dict[str, Any] = {}
    for number, window in enumerate(WINDOWS):
        inside = Q(at__gte=begin_of_step(now - window))
        sums |= {f"{kind}_{number}": Sum(kind, filter=inside, default=0) for kind in ("good", "bad")}
    rows = ObjectiveCount.objects.filter(at__gte=begin_of_step(now - WINDOW))
    nothing = {window: Events() for window in WINDOWS}
    found = {each.name: nothing for each in OBJECTIVES}
    kinds = [f"{kind}_{number}" for number in range(len(WINDOWS)) for kind in ("good", "bad")]
    for name, *numbers in rows.values("objective").annotate(**sums).values_list("objective", *kinds):
        found[name] = dict(zip(WINDOWS, map(Events, numbers[::2], numbers[1::2]), strict=True))
    return found


@may_lag
def _sums_by_day(first: date) -> Mapping[tuple[str, date], Events]:
    """By objective and UTC day."""
    rows = ObjectiveCount.objects.filter(at__gte=datetime(first.year, first.month, first.day, tzinfo=UTC))
    parts = rows.annotate(day=TruncDate("at", tzinfo=UTC)).values_list("objective", "day")
    sums: dict[tuple[str, date], Events] = defaultdict(Events)
    for objective, day, good, bad in parts.annotate(Sum("good"), Sum("bad")):
        sums[objective, day] = Events(good, bad)
    return sums


@admin.register(ObjectiveCount)
class ServiceLevels(ReadOnly, admin.ModelAdmin):
    """One page in the place of a list of counts."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.changelist_view)
        return [path("", view, name="common_objectivecount_changelist")]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        found: Sequence[Level] = levels(timezone.now())
        context = {**self.admin_site.each_context(request), "title": "Service levels", "levels": found}
        return render(request, "admin/service_levels.html", context)
