"""Text that people entered: `{% load text %}`."""

from typing import Final

import nh3
from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

SCHEMES: Final = ("https", "http", "mailto")
TAGS: Final = {"p", "br", "h3", "ul", "ol", "li", "strong", "em", "code", "pre", "blockquote", "hr", "a"}


class Reader(MarkdownIt):
    """CommonMark without pictures and HTML. A link without one of our schemes remains text."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.disable("image")

    def validateLink(self, url: str) -> bool:  # noqa: N802  # the library's name
        return url.startswith(tuple(f"{scheme}:" for scheme in SCHEMES))


def render(text: str) -> SafeString:
    """HTML of CommonMark. All headings are of level 3, for pages whose sections are of level 2.

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
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes=set(SCHEMES),
        link_rel="noopener nofollow",
    )
    return mark_safe(html)  # noqa: S308  # cleaned above


register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """Markdown as safe HTML, with headings of level 3 (`common.templatetags.text`)."""
    return render(text)
