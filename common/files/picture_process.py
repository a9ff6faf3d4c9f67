"""Decodes one picture in a process of its own: `python -I picture_process.py`, started by `common.files.pictures`.

A picture may decode to a hundred times its size, and decoders have had holes. Neither concerns the process that serves others.
Reads a line of JSON (`max_pixels`, `side` or null, `is_ours`) and the file from stdin. Writes a line of JSON and, if that has a
`format`, the picture to stdout; else it has an `error` for the person who chose the file, which is empty if the file can't be read.
"""

import json
import resource
import sys
from io import BytesIO
from typing import Any, Final

from PIL import Image, ImageOps

FORMATS: Final = ("PNG", "JPEG", "WEBP")
# Phones write JPEG files with a second picture inside. The first one is used.
WRITTEN_AS: Final = {"MPO": "JPEG"}
MEMORY: Final = 1024**3  # bytes; 25 megapixels of WebP take less than half of it
CPU_SECONDS: Final = 20
COLOR_DATA: Final = ("transparency", "icc_profile")
QUALITY: Final = 90
SCALABLE: Final = ("L", "LA", "RGB", "RGBA", "CMYK")


class PictureRefused(ValueError):
    """`str()` of the error is a message for the person who chose the file."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    wanted = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    try:
        answer, picture = decoded(content, **wanted)
    except PictureRefused as refused:
        answer, picture = {"error": str(refused)}, b""
    except Exception:  # a broken file makes the decoders raise nearly anything
        answer, picture = {"error": ""}, b""
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + picture)


def decoded(
    content: bytes, *, max_pixels: int, side: int | None, is_ours: bool
) -> tuple[dict[str, Any], bytes]:
    """The facts about a picture and its bytes. `is_ours`: it was written here, so it is only scaled."""
    if not is_ours:
        with opened(content, max_pixels) as image:
            image.verify()  # checksums; the image can't be used afterwards
    with opened(content, max_pixels) as image:
        picture_format = WRITTEN_AS.get(image.format or "", image.format or "")
        if side and max(image.size) > side:
            image = fitted(image, side)
        else:
            image.load()
        return written(image if is_ours else upright(image), picture_format)


def opened(content: bytes, max_pixels: int) -> Image.Image:
    """Read the header and check the size, before any pixel is decoded."""
    too_large = PictureRefused(f"Choose a picture of at most {max_pixels // 1_000_000} megapixels.")
    try:
        image = Image.open(BytesIO(content), formats=FORMATS)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise too_large from None
    if image.width * image.height > max_pixels:
        raise too_large
    if getattr(image, "is_animated", False) and image.format not in WRITTEN_AS:
        raise PictureRefused("Choose a picture that is not animated.")
    return image


def upright(image: Image.Image) -> Image.Image:
    """The picture itself, turned as its metadata say. A copy would need its memory once more."""
    ImageOps.exif_transpose(image, in_place=True)
    return image


def fitted(image: Image.Image, side: int) -> Image.Image:
    """Scaled down. Pillow decodes a JPEG at a fraction of its size then, which takes less time and memory."""
    if image.mode not in SCALABLE:  # a palette can't be scaled smoothly
        exif = image.getexif()
        image = image.convert("RGBA")
        image.info["exif"] = exif.tobytes()
    image.thumbnail((side, side))
    return image


def written(image: Image.Image, picture_format: str) -> tuple[dict[str, Any], bytes]:
    image.info = {key: image.info[key] for key in COLOR_DATA if key in image.info}
    file = BytesIO()
    image.save(file, picture_format, quality=QUALITY, icc_profile=image.info.get("icc_profile"))
    return {"format": picture_format, "width": image.width, "height": image.height}, file.getvalue()


if __name__ == "__main__":
    main()
