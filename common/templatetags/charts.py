"""`{% load charts %}`: the parts of a chart, of which there are hundreds. In a template each would cost some forty look-ups."""

from collections.abc import Iterable
from functools import partial
from html import escape as shown  # the texts of a chart are none of HTML, and Django's asks each
from typing import Final

from django import template
from django.template import Context
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from common.web.charts import Bar, Chart, Key, PlacedPoint, Tick

register = template.Library()

PLACE = 'x="{}" y="{}" width="{}" height="{}"'


NOTES: Final = '<ul class="chart-notes soft small">{}</ul>'
TODAY: Final = '<rect class="today" x="{}" width="{}" height="100%"></rect>'
SWATCH: Final = '<li><svg class="swatch" aria-hidden="true">{}</svg>{}</li>'
RELEASE: Final = SWATCH.format('<line class="noted" x1="6" x2="6" y2="12"></line>', "Release")


@register.simple_tag(takes_context=True)
def texts_of(context: Context, chart: Chart) -> tuple[dict[str, str]]:
    """What `components/chart.html` puts into its one row."""
    small, title = context.get("small"), shown(chart.title)
    noted = [] if small else [(each.point.name, note) for each in chart.noted for note in each.notes]
    points, rows = zip(*[_drawn(chart, each) for each in chart.points], strict=True)
    texts = {
        "css": " small-chart" if small else "",
        "level": "3" if small else "2",
        "ident": chart.ident,
        "title": title,
        "linked": f'<a href="{shown(chart.link)}">{title}</a>' if chart.link else title,
        "key": "".join([*map(partial(_key, chart), chart.keys), RELEASE if chart.noted else ""]),
        "empty": f'<p class="chart-empty soft small">{shown(chart.empty)}</p>' if chart.empty else "",
        "scale": "".join([f"<li>{shown(mark)}</li>" for mark in chart.scale]),
        "today": "" if chart.is_over else TODAY.format(chart.last.x, chart.step),
        "points": "\n".join(points),
        "lines": "".join(map(_lines, chart.keys)),
        "ticks": "\n".join(map(_tick, chart.ticks)),
        "notes": NOTES.format(format_html_join("", "<li>{}: {}</li>", noted)) if noted else "",
        "inside": shown(chart.inside),
        "unit": chart.unit,
        "columns": "".join(
            [f'<th scope="col" class="number">{shown(each.name)}</th>' for each in chart.keys]
        ),
        "figures": "\n".join(reversed(rows)),
    }
    # Positions, classes and names of parts are ours, and all other texts are escaped above.
    return ({name: SafeString(text) for name, text in texts.items()},)


def _key(chart: Chart, key: Key) -> str:
    swatch = f'<line class="line {key.css} {key.pattern}" x2="12" y1="6" y2="6"></line>'
    if not key.is_line:
        swatch = f'<rect class="bar {key.css}" width="12" height="12" rx="2"></rect>'
        if key.pattern:
            swatch += f'<rect width="12" height="12" rx="2" fill="url(#{key.pattern}-{chart.ident})"></rect>'
    total = f" <strong>{shown(key.total)}</strong>" if key.total else ""
    return SWATCH.format(swatch, f"{shown(key.name)}{total}")


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
        place = PLACE.format(each.x, each.y, each.width, each.height)
        inside += f'<rect class="bar {each.css}" {place}></rect>'
        if each.pattern:
            inside += f'<rect class="over" {place} fill="url(#{each.pattern}-{chart.ident})"></rect>'
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
    rows = ((each.css, each.x, each.y, each.width, each.height) for each in drawn)
    return format_html_join("", f'<rect class="{{}}" {PLACE}></rect>', rows)
