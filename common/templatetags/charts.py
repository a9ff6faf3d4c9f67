"""`{% load charts %}`: the parts of a chart, of which there are hundreds. In a template each would cost some forty look-ups."""

from collections.abc import Iterable, Sequence
from functools import partial
from html import escape as shown  # the texts of a chart are none of HTML, and Django's asks each
from typing import Final

from django import template
from django.template import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from common.web.charts import ABOVE, Bar, Chart, Key, PlacedPoint, Tick, line

register = template.Library()

NOTES: Final = '<ul class="chart-key">{}</ul>'
SPARKLINE: Final = '<svg class="sparkline" viewBox="0 0 60 24" width="60" height="24" aria-hidden="true"><path d="{}"></path></svg>'
TODAY: Final = '<rect class="today" x="{}" width="{}" height="100%"></rect>'
SWATCH: Final = '<li><svg class="swatch" aria-hidden="true">{}</svg>{}</li>'
CROSSED: Final = '<text class="above" x="{}" y="-2" text-anchor="middle">↑</text>'
NOTED: Final = SWATCH.format('<line class="noted" x1="6" x2="6" y2="12"></line>', "{}: {}")


@register.simple_tag(takes_context=True)
def texts_of(context: Context, chart: Chart) -> dict[str, tuple[dict[str, str], ...]]:
    """What `components/chart.html` puts into its parts, each a row of texts: without figures the sentence, else the plot."""
    title = shown(chart.title)
    card = {
        # A bare one is a part of a card that names it, and whose list is its legend.
        "css": " bare-chart"
        if context.get("bare")
        else " card small-chart"
        if context.get("small")
        else " card",
        "level": "3" if context.get("small") else "2",
        "ident": chart.ident,
        "linked": f'<a href="{shown(chart.link)}">{title}</a>' if chart.link else title,
        "key": "" if chart.empty else "".join(map(partial(_key, chart), chart.keys)),
        "empty": f'<p class="soft small">{shown(chart.empty)}</p>' if chart.empty else "",
    }
    return {"card": (_safe(card),), "plot": () if chart.empty else (_safe(_plot(chart, title)),)}


def _plot(chart: Chart, title: str) -> dict[str, str]:
    points, rows = zip(*[_drawn(chart, each) for each in chart.points], strict=True)
    return {
        "ident": chart.ident,
        "title": title,
        "scale": "".join([f"<li>{shown(mark)}</li>" for mark in chart.scale]),
        "today": "" if chart.is_over else TODAY.format(chart.last.x, chart.step),
        "points": "\n".join(points),
        "lines": "".join(map(_lines, chart.keys)),
        "ticks": "\n".join(map(_tick, chart.ticks)),
        "inside": shown(chart.inside),
        "unit": chart.unit,
        "columns": "".join(
            [f'<th scope="col" class="number">{shown(each.name)}</th>' for each in chart.keys]
        ),
        "figures": "\n".join(reversed(rows)),
    }


def _safe(texts: dict[str, str]) -> dict[str, str]:
    """Positions, classes and names of parts are ours, and all other texts are escaped here."""
    return {name: SafeString(text) for name, text in texts.items()}


@register.simple_tag
def notes_of(charts: Iterable[Chart]) -> SafeString:
    """What happened in the time of these plots, once for all of them."""
    noted = [
        (each.point.name, note)
        for chart in charts
        if not chart.empty
        for each in chart.noted
        for note in each.notes
    ]
    rows = format_html_join("", NOTED, dict.fromkeys(noted))
    return format_html(NOTES, rows) if rows else SafeString("")


@register.simple_tag
def swatch(chart: Chart, place: int | None) -> SafeString:
    """That of a series, beside a line of the list that is the plot's legend."""
    if place is None or chart.empty:
        return SafeString("")
    return format_html(
        '<svg class="swatch" aria-hidden="true">{}</svg>', SafeString(_swatch(chart, chart.keys[place]))
    )


def _key(chart: Chart, key: Key) -> str:
    total = f" <strong>{shown(key.total)}</strong>" if key.total else ""
    return SWATCH.format(_swatch(chart, key), f"{shown(key.name)}{total}")


def _swatch(chart: Chart, key: Key) -> str:
    drawn = f'<line class="line {key.css} {key.pattern}" x2="12" y1="6" y2="6"></line>'
    if not key.is_line:
        drawn = f'<rect class="bar {key.css}" width="12" height="12" rx="2"></rect>'
        if key.pattern:
            drawn += f'<rect width="12" height="12" rx="2" fill="url(#{key.pattern}-{chart.ident})"></rect>'
    return drawn


def _tick(tick: Tick) -> str:
    now = ' class="now"' if tick.is_last else ""
    return f'<text{now} x="{tick.x}" y="12" text-anchor="{tick.anchor}">{shown(tick.text)}</text>'


def _lines(key: Key) -> str:
    path = f'<path class="line {key.css} {key.pattern}" d="{key.path}"></path>' if key.path else ""
    return path + (f'<path class="line alone {key.css}" d="{key.alone}"></path>' if key.alone else "")


def _drawn(chart: Chart, placed: PlacedPoint) -> tuple[str, str]:
    """A point of the plot, and its row of the table."""
    texts = (placed.point.link, placed.summary, placed.point.full, *placed.cells, *placed.notes)
    # All at once, which takes a fifth of one after the other.
    link, summary, name, *others = shown("\0".join(texts)).split("\0")
    cells, notes = others[: len(placed.cells)], others[len(placed.cells) :]
    inside = f'<title>{summary}</title><rect class="hover" x="{placed.x}" width="{chart.step}" height="100%"></rect>'
    if notes:
        inside += f'<line class="noted" x1="{placed.middle}" x2="{placed.middle}" y2="100%"></line>'
    for each in placed.bars:
        place = _place(each)
        inside += f'<rect class="bar {each.css}" {place}></rect>'
        if each.pattern:
            inside += f'<rect class="over" {place} fill="url(#{each.pattern}-{chart.ident})"></rect>'
    if placed.is_above:
        inside += CROSSED.format(placed.middle)
        notes = [ABOVE, *notes]
    said = "".join([f' <span class="soft small">{each}</span>' for each in notes])
    figures = "".join([f'<td class="number">{each}</td>' for each in cells])
    named = f'<a href="{link}">{name}</a>' if link else name
    return (
        f'<a href="{link}" tabindex="-1">{inside}</a>' if link else f"<g>{inside}</g>",
        f'<tr><th scope="row">{named}{said}</th>{figures}</tr>',
    )


@register.simple_tag
def bars(drawn: Iterable[Bar]) -> SafeString:
    """Those of a strip (`common.web.charts.strip`)."""
    return SafeString("".join([f'<rect class="{each.css}" {_place(each)}></rect>' for each in drawn]))


def _place(bar: Bar) -> str:
    return f'x="{bar.x}" y="{bar.y}" width="{bar.width}" height="{bar.height}"'


@register.simple_tag
def sparkline(values: Sequence[float | None]) -> SafeString:
    """How a figure of a card went, for the eye: the card's words say the rest."""
    path = line(values, width=60, height=24)
    return format_html(SPARKLINE, path) if path else SafeString("")


@register.filter
def have_figures(charts: Iterable[Chart]) -> bool:
    return not all(chart.empty for chart in charts)
