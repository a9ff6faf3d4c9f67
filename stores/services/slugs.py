"""Slugs: the last part of a product's or page's address, unique within its business."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from django.db import IntegrityError, models, transaction
from django.utils.text import slugify

from common.errors import Conflict
from stores.models import Product, SitePage
from stores.models.products import PAGE_SLUG

TRIES = 20


def insert_under_free_slug(row: Product | SitePage, *, name: str) -> None:
    """Save a new row as `rye-bread`, `rye-bread-2`, …, the first one that is free.

    The unique constraint decides, because another transaction may take a slug after the check.
    """
    room = PAGE_SLUG if isinstance(row, SitePage) else row._meta.get_field("slug").max_length or 0
    for _ in range(TRIES):
        taken = set(_slugs_of(row))
        row.slug = next(slug for slug in _candidates(name, room) if slug not in taken)
        if _saved(row, force_insert=True):
            return
    raise Conflict("The address could not be chosen just now. Please try again.")


def save_under_own_slug(row: Product | SitePage, *, is_new: bool) -> None:
    """Raises `Conflict` if another row has the slug."""
    if _slugs_of(row).filter(slug=row.slug).exists() or not _saved(row, force_insert=is_new):
        raise Conflict(f"The address “{row.slug}” is taken.")


def _slugs_of(row: Product | SitePage) -> Any:
    """The slugs of the business's other rows: a queryset of text."""
    others = type(row).objects.filter(business=row.business).exclude(pk=row.pk)
    return others.values_list("slug", flat=True)


def base_of(name: str, room: int) -> str:
    """The slug that a name makes, if it is free."""
    return slugify(name)[:room].strip("-") or "item"


def _candidates(name: str, room: int) -> Iterator[str]:
    base = base_of(name, room)
    yield base
    for number in count(2):
        suffix = f"-{number}"
        yield base[: room - len(suffix)] + suffix


def _saved(row: models.Model, *, force_insert: bool) -> bool:
    try:
        with transaction.atomic():
            row.save(force_insert=force_insert)
    except IntegrityError:
        return False
    return True
