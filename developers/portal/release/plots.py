"""The two plots of a release: what failed, and how long calls took, of the new version and of the old one in the same hours or days."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from common.web.charts import Chart, Number, Point, Series, chart
from extensions.releases.health import calls_until
from extensions.releases.history import MOST, floor
from marketplace.enums import ReleaseMode
from marketplace.models import Release

_STEPS: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_OfCalls = Callable[[dict[str, Any]], Number | None]
_Said = Callable[[Any], str]
_VERSIONS: Final = (("new", "New version", "first"), ("old", "Old version", "second"))


def plots_of(release: Release, figures: dict[str, Any]) -> tuple[Chart, Chart]:
    """`figures` are those of `extensions.releases.health.figures_of`."""
    begins = _begins(release, figures["unit"])
    points = [Point(at if figures["unit"] == "hour" else at.date()) for at in begins]
    by_time = {datetime.fromisoformat(part["at"]): part for part in figures["history"]}
    versions = _VERSIONS[:1] if release.mode == ReleaseMode.ALL else _VERSIONS
    is_over = begins[-1] < floor(timezone.now(), figures["unit"])
    has_calls = any(figures[version]["calls"] for version, *_ in versions)

    def drawn(title: str, value: _OfCalls, total: _Said, write: _Said, empty: str) -> Chart:
        series = [
            Series(
                name, css, [value(by_time[at][version]) if at in by_time else None for at in begins],
                is_line=True, total=total(figures[version]),
            )
            for version, name, css in versions
        ]  # fmt: skip
        return chart(title.lower(), title, points, series, is_over=is_over, write=write, empty=empty)

    return (
        drawn("Failures", _share, _failed, _percent, "No failures." if has_calls else "No calls."),
        drawn("p95", _p95, lambda calls: _milliseconds(_p95(calls)), _milliseconds, "No calls."),
    )


def _begins(release: Release, unit: str) -> list[datetime]:
    first, last = floor(release.started_at, unit), floor(calls_until(release), unit)
    number = (last - first) // _STEPS[unit] + 1
    return [last - ago * _STEPS[unit] for ago in range(min(number, MOST) - 1, -1, -1)]


def _share(calls: dict[str, Any]) -> Number | None:
    return 100 * calls["failureRate"] if calls["calls"] else None


def _p95(calls: dict[str, Any]) -> Number | None:
    p95: int | None = calls["p95Ms"]
    return p95


def _failed(calls: dict[str, Any]) -> str:
    return f"{calls['failed']:,} of {calls['calls']:,}"


def _percent(value: Number) -> str:
    return f"{round(value, 1):g}%"


def _milliseconds(value: Number | None) -> str:
    return "–" if value is None else f"{value:,} ms"
