"""Writing the storefront's pages. Their HTML is sanitized here, once, before it is stored."""

from datetime import datetime

import nh3
from django.db import transaction
from django.utils import timezone
from markdown_it import MarkdownIt

from accounts.models import Business
from common.db.finders import get_or_not_found
from common.validation import check_fields
from stores.models import SitePage
from stores.services.slugs import insert_under_free_slug, save_under_own_slug

URL_SCHEMES = {"http", "https", "mailto", "tel"}


def clean_html(content: str) -> str:
    """The HTML with its structure, links and pictures; without scripts, styles, forms and event handlers."""
    return nh3.clean(content, url_schemes=URL_SCHEMES)


def written(source: str) -> dict[str, str]:
    """`content` and `source` of a page for Markdown, in which HTML may stay as it is."""
    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(source)
    for token in tokens:
        if token.type in ("heading_open", "heading_close") and token.tag == "h1":
            token.tag = "h2"  # the page's title is the heading of level 1
    return {"content": reader.renderer.render(tokens, reader.options, {}), "source": source}


def editable(page: SitePage) -> str:
    """What a person edits: the Markdown behind the content, or the HTML that was written otherwise.

    HTML stays as it is when it is read as Markdown.
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


def _lock(page: SitePage) -> SitePage:
    rows = SitePage.objects.select_for_update(of=("self",)).select_related("business")
    return get_or_not_found(rows, page.pk, "Page not found")
