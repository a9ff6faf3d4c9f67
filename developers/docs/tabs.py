"""Frameworks that a guide shows one under another become tabs: radio buttons, so that they turn without a script.

`docs.js` remembers the choice, for all guides.
"""

from collections.abc import Sequence
from typing import Final

from django.template.loader import render_to_string
from markdown_it.token import Token

FRAMEWORKS: Final = ("Flask", "Django", "FastAPI", "Node")

Tab = tuple[str, str, list[Token]]  # id, name and the code


def in_tabs(tokens: Sequence[Token]) -> list[Token]:
    """The same tokens, with sections that are nothing but the code of frameworks in tabs."""
    made: list[Token] = []
    place = number = 0
    while place < len(tokens):
        tabs: list[Tab] = []
        after = place
        while (found := _tab_at(tokens, after)) is not None:
            tabs.append(found)
            after += 3 + len(found[2])
        if len(tabs) < 2:
            made.append(tokens[place])
            place += 1
            continue
        number += 1
        made += _rendered(tabs, number)
        place = after
    return made


def _tab_at(tokens: Sequence[Token], place: int) -> Tab | None:
    """The section that begins here, if its heading is a framework's name and code is all that follows."""
    if place >= len(tokens) or tokens[place].type != "heading_open":
        return None
    name, start = tokens[place + 1].content, place + 3
    end = start
    while end < len(tokens) and tokens[end].type == "fence":
        end += 1
    if name not in FRAMEWORKS or end == start:
        return None
    return str(tokens[place].attrGet("id")), name, list(tokens[start:end])


def _rendered(tabs: Sequence[Tab], number: int) -> list[Token]:
    """An id leads to the tab's name, which is always seen."""
    names = [(ident, name) for ident, name, _ in tabs]
    made = [_html(render_to_string("developers/docs/tab_names.html", {"tabs": names, "number": number}))]
    for place, (_, _, code) in enumerate(tabs, 1):
        made += [_html(f'<div class="panel panel-{place}">'), *code, _html("</div>")]
    return [*made, _html("</fieldset>")]


def _html(text: str) -> Token:
    return Token("html_block", "", 0, content=text)
