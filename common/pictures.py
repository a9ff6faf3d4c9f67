"""Uploaded pictures: they must decode, and are re-encoded, so that nothing else in the file is kept or served."""

from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import Final

from django.core.files.base import File
from PIL import Image, ImageOps

CONTENT_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
# Phones write JPEG files with a second picture inside. The first one is used.
_WRITTEN_AS: Final = {"MPO": "JPEG"}

_COLOR_DATA: Final = ("transparency", "icc_profile")
_QUALITY: Final = 90
# A picture may decode to a hundred times its size, whatever its file has. So a process decodes one at a time.
decoding: Final = Lock()
_SCALABLE: Final = ("L", "LA", "RGB", "RGBA", "CMYK")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A valid picture with the bytes that will be served: without metadata, and upright."""

    content: bytes
    format: str  # a key of CONTENT_TYPES
    width: int
    height: int

    def scaled(self, side: int) -> "Decoded":
        """The picture at most `side` pixels wide and high; itself if it is small enough."""
        if max(self.width, self.height) <= side:
            return self
        with decoding, Image.open(BytesIO(self.content)) as image:
            return _written(_fitted(image, side), self.format)


class BadPicture(ValueError):
    """The upload is refused. `str()` of the error is a message for the person who chose the file."""


def decode(upload: File, *, max_bytes: int, max_pixels: int, side: int | None = None) -> Decoded:
    """Decode an uploaded picture, and scale it to at most `side` pixels wide and high. Raises `BadPicture`.

    The content alone decides the format, not the file's name or the type that was sent. Re-encoding the picture removes
    everything else in the file, such as the location of a photograph or a script after the pixels.
    """
    content = upload.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise BadPicture(f"Choose a picture of at most {max_bytes // 1024**2} MiB.")
    try:
        with decoding:
            return _decoded(content, max_pixels, side)
    except BadPicture:
        raise
    except Exception as error:  # a broken file makes the decoders raise nearly anything
        raise BadPicture("Choose a PNG, JPEG or WebP picture. This file can't be read.") from error


def _decoded(content: bytes, max_pixels: int, side: int | None) -> Decoded:
    with _opened(content, max_pixels) as image:
        image.verify()  # checksums; the image can't be used afterwards
    with _opened(content, max_pixels) as image:
        picture_format = _WRITTEN_AS.get(image.format or "", image.format or "")
        if side and max(image.size) > side:
            return _written(_upright(_fitted(image, side)), picture_format)
        image.load()
        return _written(_upright(image), picture_format)


def _upright(image: Image.Image) -> Image.Image:
    """The picture itself, turned as its metadata say. A copy would need its memory once more."""
    ImageOps.exif_transpose(image, in_place=True)
    return image


def _fitted(image: Image.Image, side: int) -> Image.Image:
    """Scaled down. Pillow decodes a JPEG at a fraction of its size then, which takes less time and memory."""
    if image.mode not in _SCALABLE:  # a palette can't be scaled smoothly
        exif = image.getexif()
        image = image.convert("RGBA")
        image.info["exif"] = exif.tobytes()
    image.thumbnail((side, side))
    return image


def _written(image: Image.Image, picture_format: str) -> Decoded:
    image.info = {key: image.info[key] for key in _COLOR_DATA if key in image.info}
    written = BytesIO()
    image.save(written, picture_format, quality=_QUALITY, icc_profile=image.info.get("icc_profile"))
    return Decoded(written.getvalue(), picture_format, image.width, image.height)


def _opened(content: bytes, max_pixels: int) -> Image.Image:
    """Read the header and check the size, before any pixel is decoded."""
    too_large = BadPicture(f"Choose a picture of at most {max_pixels // 1_000_000} megapixels.")
    try:
        image = Image.open(BytesIO(content), formats=tuple(CONTENT_TYPES))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise too_large from None
    if image.width * image.height > max_pixels:
        raise too_large
    if getattr(image, "is_animated", False) and image.format not in _WRITTEN_AS:
        raise BadPicture("Choose a picture that is not animated.")
    return image
