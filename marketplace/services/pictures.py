"""Icons and screenshots of apps."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from django.core.files.base import ContentFile, File
from django.db import transaction

from common.files import pictures
from common.files.pictures import CONTENT_TYPES, BadPicture, Decoded
from marketplace.models import App, Picture

__all__ = ["MAX_BYTES", "BadPicture", "Decoded", "decode", "drop_unused", "store"]

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_PIXELS: Final = 16_000_000  # a 2 MiB file may decode to gigabytes


def decode(upload: File) -> Decoded:
    """Decode an uploaded picture. Raises `BadPicture`."""
    return pictures.decode(upload, max_bytes=MAX_BYTES, max_pixels=MAX_PIXELS)


def store(app: App, picture: Decoded, *, now: datetime) -> Picture:
    """Store a picture. If the row is rolled back, the unused file remains, which does no harm."""
    made = Picture(
        app=app,
        content_type=CONTENT_TYPES[picture.format],
        width=picture.width,
        height=picture.height,
        created_at=now,
    )
    made.file.save(f"{made.id}.{picture.format.lower()}", ContentFile(picture.content), save=False)
    made.save(force_insert=True)
    return made


def drop_unused(app: App) -> None:
    """Delete the pictures that neither the working copy nor an approved version shows."""
    shown = _shown(app.icon_id, app.screenshot_ids)
    for icon_id, screenshot_ids in app.versions.values_list("icon_id", "screenshot_ids"):
        shown |= _shown(icon_id, screenshot_ids)
    for picture in app.pictures.exclude(pk__in=shown):
        picture.delete()
        transaction.on_commit(partial(picture.file.delete, save=False))


def _shown(icon_id: object, screenshot_ids: Sequence[str]) -> set[str]:
    return {str(picture_id) for picture_id in (icon_id, *screenshot_ids) if picture_id}
