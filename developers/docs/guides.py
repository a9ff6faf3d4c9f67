"""The guides for developers of apps, merchants and reviewers: which there are, and how a file becomes a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from itertools import pairwise
from os.path import dirname, normpath
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

from developers.docs.markup import highlighted, in_tabs
from developers.sdks.packages import BROWSER, NODE, PACKAGES, PYTHON, STORE
from stores.addresses import stores_origin


@dataclass(frozen=True, slots=True)
class Guide:
    slug: str  # the file's name without its ending
    title: str
    about: str
    icon: str
    file: str = ""  # from the root of the project; without it, the slug's in the folder `docs`

    @property
    def path(self) -> str:
        return self.file or f"docs/{self.slug}.md"


START = (
    Guide("first-app", "Your first app in ten minutes", "An app with a webhook, a hook, a block and tests, in Flask, Django, FastAPI or Node.", "play"),
    Guide("quickstart", "Try it in the browser", "From an account to the first API call and the first webhook, in ten minutes.", "play"),
)  # fmt: skip
TASKS = (
    Guide("webhooks", "Receive webhooks", "Register an endpoint, answer in time, drop duplicates, and catch up after an outage.", "webhook"),
    Guide("missed-events", "Find events that you missed", "Catch up from the feed after an outage, resend what failed, and start from an export.", "history"),
    Guide("signatures", "Verify signatures", "Check that a webhook or hook call comes from the platform, with code in two languages.", "shield-check"),
    Guide("oauth", "Install by OAuth", "Send merchants to the consent page, and exchange the code for an access token.", "key"),
    Guide("hooks", "Answer checkout hooks", "Offer payment methods, delivery prices and discounts, or refuse an order, while a shopper waits.", "shopping-cart"),
    Guide("blocks", "Add blocks to pages", "Show your content in a frame that merchants place on their pages.", "blocks"),
    Guide("embeds", "Add widgets and scripts", "Show a floating widget on every page of a store, or run a script there.", "code"),
    Guide("admin-pages", "Add admin pages", "Show a page of your app in the merchant's sidebar, and find out who is looking.", "layout-dashboard"),
    Guide("connect-a-shop", "Connect a store that you run", "Push the products and orders of your own software, so that apps can read them.", "store"),
    Guide("re-consent", "Ask for more permissions", "Add scopes or parts to an app that stores already use.", "plus"),
    Guide("erasure", "Erase a store's data", "Delete everything about a store after it uninstalled your app, or about one of its customers.", "eraser"),
    Guide("local-development", "Develop on your machine", "Receive webhooks and hook calls of your sandbox store without a public address.", "terminal"),
    Guide("testing-your-app", "Test your app", "Try your server against every rule with one command, on your machine and in CI.", "circle-check"),
    Guide("go-live", "Go live", "What to check before you submit, what happens after the approval, and how to ship updates.", "flag"),
    Guide("releases", "Release in steps", "Let some stores have a new version first, halt it when it works worse, and take it back.", "trending-up"),
    Guide("review-criteria", "Pass the review", "The criteria that reviewers check, and what each one needs.", "clipboard-list"),
)  # fmt: skip
REFERENCE = (
    Guide("command-line", "The command line (CLI)", "Every command of extension-platform, its exit codes, and its JSON output.", "terminal"),
    Guide("sdk-python", "SDK for Python", "OAuth, webhooks, hooks, session tokens, the app API and tests, with types.", "package", "sdk/python/README.md"),
    Guide("sdk-node", "SDK for Node and TypeScript", "The same for JavaScript and TypeScript on Node, without dependencies.", "package", "sdk/node/README.md"),
    Guide("sdk-browser", "SDK for browsers", "Blocks, widgets and admin pages talk to the store's page by typed messages.", "package", "sdk/js/README.md"),
    Guide("sdk-store-python", "Client for shops in Python", "An outbox, a sender, hooks and commands for a store that you run.", "package", "sdk/store-python/README.md"),
    Guide("api", "Using the API", "Authentication, errors, rate limits, pagination, objects, idempotency.", "braces"),
    Guide("events", "Event delivery", "The events, the headers of a delivery, retries, the feed, and special cases.", "send"),
    Guide("manifest", "Manifest", "Every field of the manifest, settings schemas, and what a save changes.", "file-code"),
    Guide("check-rules", "Rules of the check", "What the check tries, why it matters, and how to fix what it finds.", "list-checks"),
    Guide("shop-rules", "Check a connected store", "What the check of a store that you run tries, how to start it, and how to fix what it finds.", "list-checks"),
    Guide("contract", "Contract", "All rules that the platform guarantees to apps, in detail.", "file-text"),
    Guide("platform-contract", "Platform contract", "What only the platform must do: its pages, stores, and what holds for all requests and texts.", "file-text"),
)  # fmt: skip
MERCHANTS = (
    Guide("merchant-apps", "Install and remove an app", "What to look at first, what an app’s page shows, and how to pause or uninstall it.", "blocks"),
    Guide("merchant-approvals", "What needs your approval", "Which changes of an app wait for you, how you are asked, and what to answer.", "shield-check"),
    Guide("merchant-customers", "Erase a customer", "Find what your store has about one person, hand it out or erase it, and see what apps answered.", "user"),
    Guide("merchant-staff", "Work with staff", "The three roles in a store, invitations, and who gets which mails.", "users"),
)  # fmt: skip
REVIEWERS = (
    Guide("reviewing", "Review an app", "From the queue to a decision, and what to watch afterwards.", "clipboard-list"),
)  # fmt: skip
GUIDES = {guide.slug: guide for guide in (*START, *TASKS, *REFERENCE, *MERCHANTS, *REVIEWERS)}
_SLUGS = {guide.path: f"{guide.slug}.md" for guide in GUIDES.values()}


@dataclass(frozen=True, slots=True)
class Heading:
    ident: str
    words: str
    level: int


@dataclass(frozen=True, slots=True)
class GuideSection:
    """The text below one heading, for the search. `heading` is None for the text above the first one."""

    heading: Heading | None
    text: str


@dataclass(frozen=True, slots=True)
class GuidePage:
    html: SafeString
    sections: list[GuideSection]

    @property
    def headings(self) -> list[Heading]:
        """Those that the list "On this page" has."""
        return [each.heading for each in self.sections if each.heading and each.heading.level == 2]


FOR_OPERATORS = re.compile(r"^## [^\n]*\n+<!-- for operators -->.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)


_LINK = re.compile(r"(?<=\]\()([\w./-]+\.md)(?=[#)])")


def source(slug: str) -> str:
    """A guide's Markdown, with this installation's addresses and without sections that only operators need.

    Guides link each other as files, wherever these are; here all are in one folder.
    """
    path = GUIDES[slug].path
    text = (settings.BASE_DIR / path).read_text()
    text = FOR_OPERATORS.sub("", text)
    text = _LINK.sub(lambda link: _SLUGS.get(normpath(f"{dirname(path)}/{link[1]}"), "") or link[1], text)
    for name, value in _of_this_installation().items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _of_this_installation() -> dict[str, str]:
    return {
        "base_url": settings.BASE_URL,
        "stores_origin": stores_origin(),
        "python_sdk": PACKAGES[PYTHON].requirement,
        "store_sdk": PACKAGES[STORE].requirement,
        "node_sdk": PACKAGES[NODE].requirement,
        "browser_sdk": PACKAGES[BROWSER].requirement,
    }


@cache
def page(slug: str) -> GuidePage:
    """A guide's HTML without its first heading, and its sections."""
    return rendered(source(slug))


def rendered(text: str) -> GuidePage:
    reader = _reader()
    tokens = reader.parse(text)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]
    headings = _name_headings(tokens)
    for token in tokens:
        _resolve_links(token)
    _label_cells(tokens)
    sections = list(_sections(tokens, headings))
    tokens = in_tabs(tokens)
    # Our own files, in which HTML is not read as such.
    html = re.sub(
        r"(<table>.*?</table>)", _framed, reader.renderer.render(tokens, reader.options, {}), flags=re.DOTALL
    )
    return GuidePage(mark_safe(html), sections)  # noqa: S308


def edited(path: str) -> date:
    """The day of a file."""
    return datetime.fromtimestamp((settings.BASE_DIR / path).stat().st_mtime, UTC).date()


def _label_cells(tokens: list[Token]) -> None:
    """Give each cell of a table the heading of its column, for phones, where rows are shown one below the other."""
    headings: list[str] = []
    column = 0
    for token, inner in pairwise(tokens):
        if token.type == "thead_open":
            headings = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            headings.append(inner.content.strip("`") if "`" in inner.content else inner.content.capitalize())
        elif token.type == "td_open":
            token.attrSet("data-label", headings[column])
            column += 1


def _framed(table: re.Match[str]) -> str:
    framed = table[1].replace("<table>", '<table class="table">')
    return f'<div class="table-wrap" tabindex="0">{framed}</div>'


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("fence", _fence)
    reader.add_render_rule("heading_close", _heading_close)
    return reader


def _fence(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    language = tokens[index].info.strip()
    text = highlighted(tokens[index].content.rstrip(), language)
    return render_to_string(
        "components/code.html", {"text": text, "label": LABELS.get(language, ""), "copy": True}
    )


LABELS = {
    "sh": "Shell",
    "json": "JSON",
    "python": "Python",
    "js": "JavaScript",
    "http": "HTTP",
    "html": "HTML",
    "ts": "TypeScript",
    "yaml": "YAML",
}


def anchor(ident: str, words: str) -> SafeString:
    """The link of a heading to itself, which shows when the heading is pointed at or focused."""
    return format_html('<a class="anchor" href="#{}" aria-label="Link to {}">#</a>', ident, words)


def _heading_close(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    inline, opening = tokens[index - 1], tokens[index - 2]
    return f"{anchor(str(opening.attrGet('id')), _plain(inline))}</{tokens[index].tag}>\n"


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give each heading an id of its own."""
    found: list[Heading] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            words, number = _plain(inline), 1
            ident = slug = slugify(words)
            while any(each.ident == ident for each in found):
                number += 1
                ident = f"{slug}-{number}"
            opening.attrSet("id", ident)
            found.append(Heading(ident, words, int(opening.tag[1])))
    return found


def _sections(tokens: Sequence[Token], headings: list[Heading]) -> list[GuideSection]:
    parts: list[tuple[Heading | None, list[str]]] = [(None, [])]
    remaining = iter(headings)
    in_heading = False
    for token in tokens:
        if token.type == "heading_open":
            parts.append((next(remaining), []))
            in_heading = True
        elif token.type == "heading_close":
            in_heading = False
        elif token.type == "inline" and not in_heading:
            parts[-1][1].append(_plain(token))
        elif token.type == "fence":
            parts[-1][1].append(token.content)
    return [
        GuideSection(heading, " ".join(" ".join(texts).split()))
        for heading, texts in parts
        if heading or texts
    ]


def _plain(inline: Token) -> str:
    return "".join(" " if child.type == "softbreak" else child.content for child in inline.children or ())


def _resolve_links(token: Token) -> None:
    """A link from one file to another becomes a link between their pages. An address in `code` becomes a link."""
    children = token.children or []
    for child in children:
        target = str(child.attrGet("href") or "")
        name, _, place = target.partition("#")
        if name.removesuffix(".md") in GUIDES:
            child.attrSet(
                "href",
                reverse("docs:guide", args=[name.removesuffix(".md")]) + (f"#{place}" if place else ""),
            )
    inside = False
    for child in children:
        inside = child.type == "link_open" or (inside and child.type != "link_close")
        address = child.content.removeprefix(settings.BASE_URL)
        if child.type == "code_inline" and not inside and PUBLIC_PAGE.fullmatch(address):
            link = format_html('<a href="{}"><code>{}</code></a>', address, child.content)
            child.type, child.content = "html_inline", str(link)


PUBLIC_PAGE = re.compile(r"/(docs|\.well-known)/[\w./-]*")
