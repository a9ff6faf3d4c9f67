"""Template tags of the review pages in the admin."""

from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from common.templatetags.ui import moment
from developers.review import submissions
from extensions.manifest.differences import summary
from marketplace.scopes import SCOPES

register = template.Library()
register.filter("summary", summary)

SHOWN = 5


@register.inclusion_tag("developers/review/waiting.html")
def review_queue() -> dict[str, Any]:
    """The oldest waiting submissions, for the admin's home page."""
    return {"waiting": submissions.waiting()[:SHOWN], "counts": submissions.counts()}


@register.filter
def since(when: datetime | None) -> SafeString:
    """A date and time, and how long ago it was."""
    if when is None:
        return SafeString("")
    return format_html('{} <span class="quiet ago">({} ago)</span>', moment(when), timesince(when, depth=1))


@register.filter
def scope_list(names: list[str]) -> SafeString:
    """A list of scopes with the sensitive ones marked."""
    lines = format_html_join("", "<li><code>{}</code>{}</li>", ((name, _mark(name)) for name in names))
    return format_html('<ul class="scope-list">{}</ul>', lines) if names else SafeString("None")


_SENSITIVE = SafeString(' <span class="mark warn">Sensitive</span>')


def _mark(name: str) -> str:
    return _SENSITIVE if name in SCOPES and SCOPES[name].sensitive else ""
