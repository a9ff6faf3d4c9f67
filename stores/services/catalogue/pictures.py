"""Pictures that merchants upload: of products, and for the store itself."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar
from uuid import UUID

from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.models import Business
from common.db.rows import for_each
from common.errors import Invalid
from common.files import pictures
from common.files.pictures import CONTENT_TYPES, Decoded
from common.ids import parse_id
from stores.models import Product, ProductPicture, StoredPicture, StorePicture

MAX_BYTES: Final = 5 * 1024 * 1024
MAX_PIXELS: Final = 25_000_000  # phones take 24 million; a file of 5 MiB may decode to gigabytes
SIDE: Final = 2000  # pixels that are kept
THUMBNAIL_SIDE: Final = 480
FOLDER: Final = "stores/"  # `upload_to` of the models
MOST_OF_STORE: Final = 500  # pictures of its own and on its pages
IN_NAME: Final = 6  # first digits of an id that name a folder, so that it has the pictures of some five hours
BATCH: Final = 500
Stored = TypeVar("Stored", bound=StoredPicture)


def decode(upload: File) -> Decoded:
    """Decode an uploaded picture, at most 2,000 pixels wide and high. Raises `BadPicture`."""
    return pictures.decode(upload, max_bytes=MAX_BYTES, max_pixels=MAX_PIXELS, side=SIDE)


def save_picture(row: Stored, decoded: Decoded) -> Stored:
    """Save a new row with its two files. If the row is rolled back, `remove_stray_files` removes the files later."""
    row.content_type = CONTENT_TYPES[decoded.format]
    row.width, row.height = decoded.width, decoded.height
    ending, name = decoded.format.lower(), f"{str(row.id)[:IN_NAME]}/{row.id}"
    row.file.save(f"{name}.{ending}", ContentFile(decoded.content), save=False)
    small = decoded.scaled(THUMBNAIL_SIDE)
    row.thumbnail.save(f"{name}-small.{ending}", ContentFile(small.content), save=False)
    row.save(force_insert=True)
    return row


def add_page_picture(*, business: Business, upload: File) -> StorePicture:
    """A picture for the text of the store's pages. Raises `BadPicture`, also for one too many."""
    if StorePicture.objects.filter(business=business).count() >= MOST_OF_STORE:
        raise pictures.BadPicture(f"A store has at most {MOST_OF_STORE} pictures on its pages.")
    return save_picture(StorePicture(business=business), decode(upload))


def picture_by_id(picture_id: UUID) -> StoredPicture | None:
    found: Any = ProductPicture.objects.filter(pk=picture_id).first()
    return found or StorePicture.objects.filter(pk=picture_id).first()


def delete_files(picture: StoredPicture) -> None:
    """After the row's deletion was committed."""
    for file in (picture.file, picture.thumbnail):
        file.delete(save=False)


def is_shared(picture: StoredPicture) -> bool:
    """Whether copies of the store have its files, too. They have the id of the row that they were saved for; `remove_stray_files` removes
    those of a row that was deleted while there was a copy.
    """
    if str(picture.pk) not in str(picture.file.name):
        return True
    return Business.objects.filter(copy_of=_store_of(picture)).exists()


def _store_of(picture: Any) -> UUID | None:
    """None if its product is gone with it."""
    if isinstance(picture, StorePicture):
        return picture.business_id
    return Product.objects.filter(pk=picture.product_id).values_list("business_id", flat=True).first()


def remove_stray_files(*, now: datetime | None = None) -> int:
    """Remove files that no row refers to, such as those of a transaction that was rolled back. Returns their number.

    Files of the last day are left alone: their transaction may still be running.
    """
    now = now or timezone.now()
    old = (file.name for file in walk(default_storage, FOLDER) if (now - file.changed_at).days >= 1)
    removed = 0

    def remove(name: str) -> int:
        default_storage.delete(name)
        return 1

    while batch := list(islice(old, BATCH)):
        pictures_of = {name: parse_id(name.rpartition("/")[2][:36]) for name in batch}
        ids = [found for found in pictures_of.values() if found]
        known = {
            picture
            for model in (ProductPicture, StorePicture)
            for picture in model.objects.filter(pk__in=ids).values_list("pk", flat=True)
        }
        stray = (name for name, picture in pictures_of.items() if picture not in known)
        removed += for_each(stray, remove, task="remove_stray_pictures")
    return removed


# Goes through the files of a storage without holding a list of them.


class StoredFile(NamedTuple):
    name: str  # in its storage
    changed_at: datetime


def walk(storage: Any, folder: str) -> Iterator[StoredFile]:
    """All files below a folder of a disk or a bucket, in no order. None where the folder is missing."""
    if hasattr(storage, "objects"):
        return (StoredFile(*each) for each in storage.objects(folder))
    return _on_disk(Path(storage.path(folder)), folder.rstrip("/"))


def _on_disk(path: Path, name: str) -> Iterator[StoredFile]:
    try:
        entries = os.scandir(path)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _on_disk(path / entry.name, f"{name}/{entry.name}")
                continue
            try:
                changed_at = datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, UTC)
            except FileNotFoundError:  # deleted meanwhile
                continue
            yield StoredFile(f"{name}/{entry.name}", changed_at)


# --- The pictures of a product -----------------------------------------------------------------------

MAX_PICTURES: Final = 8
MAX_ALT: Final = 200  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureChanges:
    """What happens to a product's pictures.

    `alts` has the new descriptions by id, and `order` ids in their new order. Pictures that it leaves out, because
    someone added them meanwhile, and the `new` ones follow.
    """

    new: Sequence[Decoded] = ()
    alts: dict[UUID, str] = field(default_factory=dict)
    order: Sequence[UUID] = ()
    removed: frozenset[UUID] = frozenset()


def change_pictures(*, product: Product, changes: PictureChanges, now: datetime) -> str:
    """Change the pictures of a locked product. Returns its new `image`, which the caller saves.

    Without pictures, a path that was set before pictures could be uploaded stays. Raises `Invalid`.
    """
    before = list(product.pictures.all())
    kept = [picture for picture in before if picture.pk not in changes.removed]
    if len(kept) + len(changes.new) > MAX_PICTURES:
        raise Invalid.field("pictures", f"A product can have at most {MAX_PICTURES} pictures.")
    ProductPicture.objects.filter(product=product, pk__in=changes.removed).delete()
    places = {picture_id: place for place, picture_id in enumerate(changes.order)}
    kept.sort(key=lambda picture: places.get(picture.pk, len(places)))
    for position, picture in enumerate(kept):
        picture.position = position
        picture.alt = changes.alts.get(picture.pk, picture.alt)[:MAX_ALT]
    ProductPicture.objects.bulk_update(kept, ["position", "alt"])
    for decoded in changes.new:
        picture = ProductPicture(product=product, position=len(kept), created_at=now)
        kept.append(save_picture(picture, decoded))
    if not kept and not before:
        return product.image
    return kept[0].path if kept else ""
