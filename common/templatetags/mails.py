"""The parts of a mail: `{% load mails %}`. `common.mails.letters` makes both of the mail's bodies of them.

Line breaks of a template don't count; those of a quote do.
"""

from datetime import datetime
from typing import Any

from django import template

from common.mails.letters import COLLECTED, Kind, MailPart, one_line
from common.times import to_the_minute

register = template.Library()


@register.simple_block_tag(takes_context=True)
def paragraph(context: Any, content: str) -> str:
    return _add(context, "paragraph", one_line(content))


@register.simple_block_tag(takes_context=True)
def heading(context: Any, content: str) -> str:
    return _add(context, "heading", one_line(content))


@register.simple_block_tag(takes_context=True)
def point(context: Any, content: str) -> str:
    """A line of a list."""
    return _add(context, "point", one_line(content))


@register.simple_block_tag(takes_context=True)
def quote(context: Any, content: str) -> str:
    """Words of a person, as they wrote them."""
    return _add(context, "quote", "\n".join(line.rstrip() for line in content.strip().splitlines()))


@register.simple_tag(takes_context=True)
def fact(context: Any, name: object, value: object) -> str:
    return _add(context, "fact", one_line(str(value)), str(name))


@register.simple_tag(takes_context=True)
def link(context: Any, words: object, url: str) -> str:
    return _add(context, "link", url, words)


@register.simple_tag(takes_context=True)
def button(context: Any, words: object, url: str) -> str:
    """What the mail is for. There is at most one."""
    return _add(context, "button", url, words)


@register.filter
def minute(value: datetime) -> str:
    """`20 Nov 2026, 15:31 UTC`."""
    return to_the_minute(value)


def _add(context: Any, kind: Kind, text: str, label: object = "") -> str:
    if text:
        context[COLLECTED].append(MailPart(kind, text, one_line(str(label))))
    return ""
