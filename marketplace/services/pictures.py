"""Icons and screenshots. Uploads must decode successfully, and are re-encoded before they are stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from io import BytesIO
from typing import Final

from django.core.files.base import ContentFile, File
from django.db import transaction
from PIL import Image, ImageOps

from marketplace.models import App, Picture

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_PIXELS: Final = 16_000_000  # a 2 MiB file may decode to gigabytes
CONTENT_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
# Phones write JPEG files with a second picture inside. The first one is used.
_WRITTEN_AS: Final = {"MPO": "JPEG"}

_SHAPES_COLOURS: Final = ("transparency", "icc_profile")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A valid picture with the bytes that will be served: without metadata, and upright."""

    content: bytes
    format: str  # a key of CONTENT_TYPES
    width: int
    height: int


class BadPicture(ValueError):
    """The upload is refused. `str()` of the error is a message for the person who chose the file."""


def decode(upload: File) -> Decoded:
    """Decode an uploaded picture. Raises `BadPicture`.

    The content alone decides the format, not the file's name or the type that was sent. Re-encoding the picture removes
    everything else in the file, such as the location of a photograph or a script after the pixels.
    """
    content = upload.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise BadPicture("Choose a picture of at most 2 MiB.")
    try:
        return _decoded(content)
    except BadPicture:
        raise
    except Exception as error:  # a broken file makes the decoders raise nearly anything
        raise BadPicture("Choose a PNG, JPEG or WebP picture. This file can't be read.") from error


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


def _decoded(content: bytes) -> Decoded:
    with _opened(content) as image:
        image.verify()  # checksums; the image can't be used afterwards
    with _opened(content) as image:
        image.load()
        picture_format = _WRITTEN_AS.get(image.format or "", image.format or "")
        upright = ImageOps.exif_transpose(image)
    upright.info = {key: upright.info[key] for key in _SHAPES_COLOURS if key in upright.info}
    written = BytesIO()
    upright.save(written, picture_format, quality=90, icc_profile=upright.info.get("icc_profile"))
    return Decoded(written.getvalue(), picture_format, upright.width, upright.height)


def _opened(content: bytes) -> Image.Image:
    """Read the header and check the size, before any pixel is decoded."""
    try:
        image = Image.open(BytesIO(content), formats=tuple(CONTENT_TYPES))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise BadPicture(_TOO_MANY_PIXELS) from None
    if image.width * image.height > MAX_PIXELS:
        raise BadPicture(_TOO_MANY_PIXELS)
    if getattr(image, "is_animated", False) and image.format not in _WRITTEN_AS:
        raise BadPicture("Choose a picture that is not animated.")
    return image


_TOO_MANY_PIXELS: Final = f"Choose a picture of at most {MAX_PIXELS // 1_000_000} megapixels."


def _shown(icon_id: object, screenshot_ids: Sequence[str]) -> set[str]:
    return {str(picture_id) for picture_id in (icon_id, *screenshot_ids) if picture_id}
