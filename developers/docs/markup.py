"""What becomes of a guide's samples. Code gets colors: Pygments finds the tokens, six classes of `docs.css` color them. Frameworks that are
shown one under another become tabs: radio buttons, so that they turn without a script.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from markdown_it.token import Token
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name
from pygments.util import ClassNotFound

# The class of a token is that of its nearest ancestor in this table.
CLASSES = {
    Comment: "c",
    Keyword: "k",
    Literal.String: "s",
    Literal.Number: "n",
    Name.Tag: "a",
    Name.Attribute: "a",
    Name.Function: "f",
    Name.Class: "f",
    Name.Decorator: "f",
    Name.Builtin: "f",
}
ALIASES = {"curl": "sh", "JavaScript": "js", "Python": "python", "txt": "text"}


@lru_cache(maxsize=1000)
def highlighted(text: str, language: str = "") -> SafeString:
    """HTML of a sample; plain text for an unknown language."""
    try:
        lexer = get_lexer_by_name(ALIASES.get(language, language or "text"), stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text", stripnl=False, ensurenl=False)
    return format_html_join("", "{}", ((_span(kind, value),) for kind, value in lexer.get_tokens(text)))


def _span(kind: Any, value: str) -> SafeString:
    css = next((CLASSES[each] for each in reversed(kind.split()) if each in CLASSES), "")
    if not css or not value.strip():
        return format_html("{}", value)
    return format_html('<span class="{}">{}</span>', css, value)


# --- Tabs --------------------------------------------------------------------------------------------

# `docs.js` remembers the choice, for all guides.

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
