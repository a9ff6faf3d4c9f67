"""What a mail says, written once: a template of paragraphs, points, facts, quotes, links and at most one button.

The tags of `{% load mails %}` collect these parts as plain text. Both bodies of the mail are made of them, so neither can say what the
other doesn't, and no text of a person becomes markup.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal

from django.template import Context
from django.template.loader import get_template

Kind = Literal["paragraph", "heading", "point", "fact", "quote", "link", "button"]
IN_ONE_BLOCK: Final = ("point", "fact")
_BREAKABLE: Final = re.compile(r"[^\S\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}]+")
COLLECTED: Final = "mail_parts"  # the variable in which the tags find the list


@dataclass(frozen=True, slots=True)
class MailPart:
    """`label` names a fact, a link or a button, whose `text` is the value or the URL."""

    kind: Kind
    text: str
    label: str = ""


def one_line(text: str) -> str:
    """Without line breaks and repeated spaces. Spaces that don't break stay, such as the one in `5 €`."""
    return _BREAKABLE.sub(" ", text).strip()


def written(template: str, context: dict[str, Any]) -> list[MailPart]:
    """The parts of a mail's template. Raises `ValueError` for words outside of the tags and for a second button."""
    parts: list[MailPart] = []
    base: Any = get_template(template)
    outside = base.template.render(Context(context | {COLLECTED: parts}, autoescape=False)).strip()
    if outside:
        raise ValueError(f"{template} has words outside of its tags: {outside!r}")
    if sum(part.kind == "button" for part in parts) > 1:
        raise ValueError(f"{template} has more than one button.")
    return parts


def blocks(parts: Iterable[MailPart]) -> list[tuple[Kind, list[MailPart]]]:
    """Parts with their kind; points, and facts, that follow each other are one block."""
    found: list[tuple[Kind, list[MailPart]]] = []
    for kind, group in groupby(parts, key=lambda part: part.kind):
        rows = list(group)
        found += [(kind, rows)] if kind in IN_ONE_BLOCK else [(kind, [row]) for row in rows]
    return found


def as_text(parts: Sequence[MailPart]) -> str:
    return "\n\n".join("\n".join(_line(part) for part in rows) for _, rows in blocks(parts))


def _line(part: MailPart) -> str:
    if part.kind == "point":
        return f"- {part.text}"
    if part.kind == "button":
        return f"{part.label}:\n{part.text}"
    return f"{part.label}: {part.text}" if part.label else part.text
