"""`{% load rows %}`: the rows of a long list, each by `format_html` of the HTML between the tags.

    {% rows orders %}<li><a href="{url}">{name}</a></li>{% endrows %}

Each row is a mapping of names to values, which a view model prepares; what isn't safe HTML is escaped. A value costs a sixth of what
`{{ order.name }}` in a loop does, which is why lists of 25 rows and more are written so. A row that is HTML already, such as the head of
a day (`by_day`), is written as it is.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from html import escape
from typing import Any, Final

from django import template
from django.template import Context, Node, TemplateSyntaxError
from django.template.base import FilterExpression, Parser, TextNode, Token
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString

from common.times import day_name

DAY: Final = '<tr class="day"><th scope="rowgroup" colspan="{}">{}</th></tr>'
Row = dict[str, Any]
register = template.Library()


def by_day(rows: Iterable[Row], moments: Iterable[datetime], columns: int) -> list[Row | SafeString]:
    """The rows of a table, each with its moment. Before the first one of each day comes its head, over so many columns.

    Where there is room, the first day is in the table's own head instead (`first_day`).
    """
    found: list[Row | SafeString] = []
    last, today = None, timezone.localdate()
    for row, moment in zip(rows, moments, strict=True):
        day = timezone.localtime(moment).date()
        if day != last:
            found.append(_head(columns, day, today))
            last = day
        found.append(row)
    return found


@register.filter
def first_day(moment: datetime | None) -> str:
    """`today`, `yesterday` or `24 Nov 2026`: that of the first row, for the head of the column with the times. Empty without a row."""
    if not moment:
        return ""
    name = day_name(timezone.localtime(moment).date(), timezone.localdate())
    return name if name[0].isdigit() else name.lower()


@register.simple_tag
def day_head(moment: datetime, columns: int) -> SafeString:
    """The head of a day in a table that a template writes row by row, within `{% ifchanged %}` of the day."""
    return _head(columns, timezone.localtime(moment).date(), timezone.localdate())


@lru_cache(maxsize=256)
def _head(columns: int, day: date, today: date) -> SafeString:
    return format_html(DAY, columns, day_name(day, today))


class RowsNode(Node):
    def __init__(self, shown: FilterExpression, layout: str) -> None:
        self.shown, self.layout = shown, layout

    def render(self, context: Context) -> SafeString:
        each: Sequence[Row | SafeString] = self.shown.resolve(context)
        write = self.layout.format
        return SafeString(
            "".join(
                [
                    write(**{name: _safe(value) for name, value in row.items()})
                    if isinstance(row, dict)
                    else row
                    for row in each
                ]
            )
        )


def _safe(value: Any) -> str:
    """`conditional_escape`, which takes three times as long for the two kinds that nearly all values are."""
    if value.__class__ is SafeString:
        return value
    return escape(value) if value.__class__ is str else conditional_escape(value)


@register.tag
def rows(parser: Parser, token: Token) -> RowsNode:
    _, *bits = token.split_contents()
    inside = parser.parse(["endrows"])
    parser.delete_first_token()
    texts = [each.s for each in inside if isinstance(each, TextNode)]
    if len(bits) != 1 or len(texts) != len(inside):
        raise TemplateSyntaxError("{% rows things %} has one argument, and only HTML and {names} inside.")
    return RowsNode(parser.compile_filter(bits[0]), "".join(texts))
