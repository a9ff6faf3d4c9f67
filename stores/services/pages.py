"""Writing the storefront's pages. Their HTML is sanitized here, once, before it is stored."""

from datetime import datetime

import nh3
from django.db import transaction
from django.utils import timezone

from accounts.models import Business
from common.db.finders import get_or_not_found
from common.validation import check_fields
from stores.models import SitePage
from stores.services.slugs import insert_under_free_slug, save_under_own_slug

URL_SCHEMES = {"http", "https", "mailto", "tel"}


def clean_html(content: str) -> str:
    """The HTML with its structure, links and pictures; without scripts, styles, forms and event handlers."""
    return nh3.clean(content, url_schemes=URL_SCHEMES)


@transaction.atomic
def create_page(
    *,
    business: Business,
    title: str,
    slug: str = "",
    content: str = "",
    is_published: bool = True,
    now: datetime | None = None,
) -> SitePage:
    """Without a `slug` the page gets one from its title. Raises `Invalid`, and `Conflict` for a taken slug."""
    now = now or timezone.now()
    page = SitePage(
        business=business,
        title=title,
        slug=slug,
        content=clean_html(content),
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
    is_published: bool | None = None,
    now: datetime | None = None,
) -> SitePage:
    """Change the given parts of the current row; None leaves a part unchanged. Raises like `create_page`."""
    page = _lock(page)
    page.title = page.title if title is None else title
    page.slug = page.slug if slug is None else slug
    page.content = page.content if content is None else clean_html(content)
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
