"""Markdown that people enter, as safe HTML."""

from typing import Any, Final

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.list import list_block, skipOrderedListMarker
from markdown_it.rules_core import StateCore

SCHEMES: Final = ("https", "http", "mailto")
TAGS: Final = {"p", "br", "h3", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "hr", "a"}
ATTRIBUTES: Final = {"a": {"href"}, "li": {"value"}}


class TypedReader(MarkdownIt):
    """CommonMark for people who just type: a line stays a line, and a number stays that number (contract, section 15).

    A list begins with `-`, `*` or 1, so `24. December` and `+ 49 30 1234567` are text. Lines that are indented are no program code.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__("commonmark", {"breaks": True, **options})
        self.disable("code")
        self.block.ruler.at("list", _list, {"alt": ["paragraph", "reference", "blockquote"]})
        self.core.ruler.push("numbers", _keep_numbers)


def _list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if silent and state.sCount[start] < state.blkIndent:  # asked whether the item before ends here
        return list_block(state, start, end, silent)
    begin = state.bMarks[start] + state.tShift[start]
    after = skipOrderedListMarker(state, start)
    marker = state.src[begin : after - 1] if after >= 0 else state.src[begin : begin + 1]
    return marker in ("1", "-", "*") and list_block(state, start, end, silent)


def _keep_numbers(state: StateCore) -> None:
    """Items whose number isn't the one after that of the item before."""
    following: list[int] = []  # of each list that is open
    for token in state.tokens:
        if token.type in ("ordered_list_open", "bullet_list_open"):
            following.append(1)
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            following.pop()
        elif token.type == "list_item_open" and token.info:
            if (number := int(token.info)) != following[-1]:
                token.attrSet("value", str(number))
            following[-1] = number + 1


class Reader(TypedReader):
    """Without pictures and HTML. A link without one of our schemes remains text."""

    def __init__(self) -> None:
        super().__init__(html=False)
        self.disable("image")

    def validateLink(self, url: str) -> bool:  # noqa: N802  # the library's name
        return url.startswith(tuple(f"{scheme}:" for scheme in SCHEMES))


def render(text: str) -> SafeString:
    """HTML of Markdown as `TypedReader` reads it. All headings are of level 3, for pages whose sections are of level 2.

    Links may be https, http and mailto, and have `rel="noopener nofollow"`.
    """
    reader = Reader()
    tokens = reader.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h3"
    html = nh3.clean(
        reader.renderer.render(tokens, reader.options, {}),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=set(SCHEMES),
        link_rel="noopener nofollow",
    )
    return mark_safe(html)  # noqa: S308  # cleaned above
