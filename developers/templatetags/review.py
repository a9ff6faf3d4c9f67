"""What pages of the administration show of reviews."""

from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from common.templatetags.ui import moment
from developers.review import queue
from extensions.models import ManifestFlag
from marketplace.scopes import SCOPES

register = template.Library()

SHOWN = 5


@register.inclusion_tag("admin/review/waiting.html")
def review_queue() -> dict[str, Any]:
    """The oldest of what waits, for the first page of the administration."""
    changed = ManifestFlag.objects.filter(seen_at=None).count()
    return {"waiting": queue.waiting()[:SHOWN], "counts": queue.counts(), "changed": changed}


@register.filter
def since(when: datetime | None) -> SafeString:
    """A moment, and how long ago it was."""
    if when is None:
        return SafeString("")
    return format_html('{} <span class="quiet ago">({} ago)</span>', moment(when), timesince(when, depth=1))


@register.filter
def scope_list(names: list[str]) -> SafeString:
    """Scopes one below the other, the sensitive ones marked."""
    lines = format_html_join("", "<li><code>{}</code>{}</li>", ((name, _mark(name)) for name in names))
    return format_html('<ul class="scope-list">{}</ul>', lines) if names else SafeString("None")


_SENSITIVE = SafeString(' <span class="mark warn">Sensitive</span>')


def _mark(name: str) -> str:
    return _SENSITIVE if name in SCOPES and SCOPES[name].sensitive else ""
