"""Writing the storefront's pages. Their HTML is sanitized here, once, before it is stored."""

import re
from datetime import datetime
from typing import Final

import nh3
from django.db import transaction
from django.utils import timezone

from accounts.models import Business
from common import lengths, places
from common.db.rows import get_or_not_found
from common.errors import Invalid, check_fields
from common.places import Work
from common.text.markdown import TypedReader
from stores.models import SitePage
from stores.services.slugs import insert_under_free_slug, save_under_own_slug

BLOCKS: Final = frozenset(
    "address article aside blockquote center details div dl figure footer form h1 h2 h3 h4 h5 h6 header main nav ol p pre section table "
    "ul".split()
)
ALONE: Final = frozenset(("br", "hr", "img"))
_TAG: Final = re.compile(r"<(/?)([a-z][a-z0-9]*)(?=[\s/>])[^<>]*>", re.IGNORECASE)
LINES: Final = "data-lines"
TYPED_INTO: Final = (
    "heading_open",
    "paragraph_open",
    "bullet_list_open",
    "ordered_list_open",
    "blockquote_open",
)
SHORT: Final = 2_000  # characters, which are read within a twentieth of a second
URL_SCHEMES = {"http", "https", "mailto", "tel"}
ATTRIBUTES = nh3.ALLOWED_ATTRIBUTES | {"li": {"value"}}  # the number of an item


def clean_html(content: str) -> str:
    """The HTML with its structure, links and pictures; without scripts, styles, forms and event handlers."""
    return nh3.clean(content, url_schemes=URL_SCHEMES, attributes=ATTRIBUTES)


def written(source: str) -> dict[str, str]:
    """`content` and `source` of a page for what a person typed: Markdown, which may have HTML in it, or HTML, which stays as it is.

    Raises `Invalid` for too long a text, and `places.Busy`.
    """
    return {"content": _rendered(source), "source": source}


def drafted(source: str) -> str:
    """The clean HTML of such a text for the page editor. Each heading, paragraph, list and quote that isn't inside of another one has
    `data-lines="0 2"`, the lines that it was made from. HTML has none.

    Raises like `written`.
    """
    attributes = ATTRIBUTES | {"*": {LINES}}
    return nh3.clean(_rendered(source, with_lines=True), url_schemes=URL_SCHEMES, attributes=attributes)


def _rendered(source: str, *, with_lines: bool = False) -> str:
    _check_length(source)
    if is_html(source):
        return source
    if len(source) > SHORT:
        places.require(Work.TEXT)
    reader = TypedReader().enable("table")
    tokens = reader.parse(source)
    for token in tokens:
        if token.type in ("heading_open", "heading_close") and token.tag == "h1":
            token.tag = "h2"  # the page's title is the heading of level 1
        is_underlined = token.type == "heading_open" and not token.markup.startswith("#")
        if with_lines and token.level == 0 and token.type in TYPED_INTO and token.map and not is_underlined:
            token.attrSet(LINES, "{} {}".format(*token.map))
    return str(reader.renderer.render(tokens, reader.options, {}))


def editable(page: SitePage) -> str:
    """What a person edits: the Markdown behind the content, or the HTML that was written otherwise.

    `written` leaves HTML as it is that consists of blocks, as apps write it.
    """
    return page.source or page.content


@transaction.atomic
def create_page(
    *,
    business: Business,
    title: str,
    slug: str = "",
    content: str = "",
    source: str = "",
    is_published: bool = True,
    now: datetime | None = None,
) -> SitePage:
    """`source` is the Markdown behind `content`, if there is one. Without a `slug` the page gets one from its title. Raises `Invalid`, and `Conflict` for a taken slug."""
    _check_length(source or content)
    now = now or timezone.now()
    page = SitePage(
        business=business,
        title=title,
        slug=slug,
        content=clean_html(content),
        source=source,
        is_published=is_published,
        created_at=now,
        updated_at=now,
    )
    check_fields(page, {"title": "title"} | ({"slug": "slug"} if slug else {}))
    if slug:
        save_under_own_slug(page, is_new=True)
    else:
        insert_under_free_slug(page, name=title)
    return page


@transaction.atomic
def update_page(
    *,
    page: SitePage,
    title: str | None = None,
    slug: str | None = None,
    content: str | None = None,
    source: str = "",
    is_published: bool | None = None,
    now: datetime | None = None,
) -> SitePage:
    """Change the given parts of the current row; None leaves a part unchanged. Raises like `create_page`."""
    page = _lock(page)
    page.title = page.title if title is None else title
    page.slug = page.slug if slug is None else slug
    if content is not None:
        _check_length(source or content)
        page.content, page.source = clean_html(content), source
    page.is_published = page.is_published if is_published is None else is_published
    page.updated_at = now or timezone.now()
    check_fields(page, {"title": "title", "slug": "slug"})
    save_under_own_slug(page, is_new=False)
    return page


@transaction.atomic
def delete_page(*, page: SitePage) -> None:
    """Raises `NotFound` if it was deleted meanwhile."""
    _lock(page).delete()


def _check_length(text: str) -> None:
    """Of what a person writes: Markdown, or HTML without it. The HTML of Markdown is longer."""
    if len(text) > lengths.PAGE:
        raise Invalid.field("content", f"Enter at most {lengths.PAGE:,} characters, not {len(text):,}.")


def _lock(page: SitePage) -> SitePage:
    rows = SitePage.objects.select_for_update(of=("self",)).select_related("business")
    return get_or_not_found(rows, page.pk, "Page not found")


# HTML that people wrote or pasted where Markdown is expected.


def is_html(text: str) -> bool:
    """Whether it consists of HTML blocks. Words outside of all of them, or none of them, make it Markdown, which may have HTML in it."""
    depth = end = blocks = 0
    for tag in _TAG.finditer(text):
        if depth == 0 and text[end : tag.start()].strip():
            return False
        end, name = tag.end(), tag[2].lower()
        if name in BLOCKS:
            blocks += 1
            depth = max(0, depth - 1 if tag[1] else depth + 1)
        elif depth == 0 and name not in ALONE:
            return False
    return blocks > 0 and (depth > 0 or not text[end:].strip())
