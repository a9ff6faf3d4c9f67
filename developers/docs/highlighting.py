"""Code samples with colors: Pygments finds the tokens, six classes of `docs.css` color them."""

from functools import lru_cache
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
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
