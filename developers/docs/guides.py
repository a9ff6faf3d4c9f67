"""The project's own guides for those who write apps, as pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

from stores.addresses import stores_origin

FOLDER = settings.BASE_DIR / "docs"


@dataclass(frozen=True, slots=True)
class Guide:
    slug: str  # the file's name without its ending
    title: str
    about: str
    icon: str


GUIDES = {
    guide.slug: guide
    for guide in (
        Guide("oauth", "Installing by OAuth", "Consent, the code, the token, and asking for more.", "key"),
        Guide("api", "The app API", "Errors, limits, lists, placing orders safely, webhooks.", "code"),
        Guide("events", "Events and deliveries", "What is sent, how it is signed, and when it is retried.", "send"),
        Guide("manifest", "The manifest", "What an app adds to a store: blocks, embeds, hooks, admin pages.", "blocks"),
        Guide("hooks", "Answering hooks", "What the checkout asks, how answers combine, what a failure does.", "shopping-cart"),
        Guide("contract", "The contract", "All rules in detail.", "file-text"),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heading:
    ident: str
    words: str


@cache
def page(slug: str) -> tuple[SafeString, list[Heading]]:
    """A guide's HTML without its first heading, and its sections."""
    text = (
        (FOLDER / f"{slug}.md")
        .read_text()
        .replace("{base_url}", settings.BASE_URL)
        .replace("{stores_origin}", stores_origin())
    )
    reader = _reader()
    tokens = reader.parse(text)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]
    headings = list(_name_headings(tokens))
    for token in tokens:
        _lead_links(token)
    # Our own files, in which HTML is not read as such.
    html = reader.renderer.render(tokens, reader.options, {})
    return mark_safe(re.sub(r"(<table>.*?</table>)", _framed, html, flags=re.DOTALL)), headings  # noqa: S308


def _framed(table: re.Match[str]) -> str:
    framed = table[1].replace("<table>", '<table class="table">').replace("<th></th>", "<td></td>")
    return f'<div class="table-wrap" tabindex="0">{framed}</div>'


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("fence", _fence)
    return reader


def _fence(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return render_to_string("components/code.html", {"text": tokens[index].content.rstrip(), "copy": True})


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    found = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            opening.attrSet("id", slugify(words))
            if opening.tag == "h2":
                found.append(Heading(slugify(words), words))
    return found


def _lead_links(token: Token) -> None:
    """From one file to the other becomes from page to page; what is not published is left as text."""
    for child in token.children or ():
        target = str(child.attrGet("href") or "")
        name, _, place = target.partition("#")
        if name.removesuffix(".md") in GUIDES:
            child.attrSet(
                "href",
                reverse("docs:guide", args=[name.removesuffix(".md")]) + (f"#{place}" if place else ""),
            )
