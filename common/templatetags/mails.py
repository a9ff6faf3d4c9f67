"""The parts of a mail: `{% load mails %}`. `common.mails.parts` makes both of the mail's bodies of them.

Line breaks of a template don't count; those of a quote do.
"""

from typing import Any

from django import template

from common.mails.parts import COLLECTED, Kind, Part

register = template.Library()


@register.simple_block_tag(takes_context=True)
def paragraph(context: Any, content: str) -> str:
    return _add(context, "paragraph", " ".join(content.split()))


@register.simple_block_tag(takes_context=True)
def heading(context: Any, content: str) -> str:
    return _add(context, "heading", " ".join(content.split()))


@register.simple_block_tag(takes_context=True)
def point(context: Any, content: str) -> str:
    """A line of a list."""
    return _add(context, "point", " ".join(content.split()))


@register.simple_block_tag(takes_context=True)
def quote(context: Any, content: str) -> str:
    """Words of a person, as they wrote them."""
    return _add(context, "quote", "\n".join(line.rstrip() for line in content.strip().splitlines()))


@register.simple_tag(takes_context=True)
def fact(context: Any, name: object, value: object) -> str:
    return _add(context, "fact", " ".join(str(value).split()), str(name))


@register.simple_tag(takes_context=True)
def link(context: Any, words: str, url: str) -> str:
    return _add(context, "link", url, words)


@register.simple_tag(takes_context=True)
def button(context: Any, words: str, url: str) -> str:
    """What the mail is for. There is at most one."""
    return _add(context, "button", url, words)


def _add(context: Any, kind: Kind, text: str, label: str = "") -> str:
    if text:
        context[COLLECTED].append(Part(kind, text, " ".join(label.split())))
    return ""
