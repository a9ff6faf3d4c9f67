"""What the pages under `/docs/` do to texts: `{% load docs %}`."""

import json
import re
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from developers.docs.guides import anchor as link_to_heading
from developers.docs.markup import highlighted

register = template.Library()


@register.filter
def prose(text: str) -> SafeString:
    """A sentence of the document, its `code` as such."""
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))  # noqa: S308 (escaped before)


@register.filter
def as_json(value: Any) -> SafeString:
    """A value as indented JSON, with colors."""
    return highlighted(json.dumps(value, indent=2, ensure_ascii=False), "json")


@register.filter
def highlight(text: str, language: str) -> SafeString:
    return highlighted(text, language)


@register.simple_tag
def anchor(ident: str, words: str) -> SafeString:
    """The link of a heading to itself."""
    return link_to_heading(ident, words)


@register.filter
def breakable(path: str) -> SafeString:
    """A path that may break after each slash."""
    parts = [format_html("{}", part) for part in path.split("/")]
    return mark_safe("/<wbr>".join(parts))  # noqa: S308 (each part is escaped)
