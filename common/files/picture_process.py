"""Decodes one picture in a process of its own: `python -I picture_process.py`, started by `common.files.pictures`.

A picture may decode to a hundred times its size, and decoders have had holes. Neither concerns the process that serves others.
Reads a line of JSON (`max_pixels`, `side` or null, `is_ours`) and the file from stdin. Writes a line of JSON and, if that has a
`format`, the picture to stdout; else it has an `error` for the person who chose the file, which is empty if the file can't be read.
"""

import json
import resource
import struct
import sys
from io import BytesIO
from typing import Any, Final

from PIL import Image, ImageMath, ImageOps
from PIL.PngImagePlugin import PngInfo

FORMATS: Final = ("PNG", "JPEG", "WEBP")
# Phones write JPEG files with a second picture inside. The first one is used.
WRITTEN_AS: Final = {"MPO": "JPEG"}
MEMORY: Final = 1024**3  # bytes; 25 megapixels of WebP take less than half of it
CPU_SECONDS: Final = 20
COLOR_DATA: Final = ("transparency", "icc_profile", "gamma")
# By how the pixels of a gray PNG are packed: what one shade of the file is among 256.
SHADE: Final = {"1": 255, "L;2": 85, "L;4": 17, "L": 1, "I;16B": 1 / 256}
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
        if image.format == "PNG" and image.mode in ("1", "L", "I;16"):
            image = in_256_shades(image)
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


def in_256_shades(image: Any) -> Image.Image:
    """A gray PNG of any depth in 8 bits. Its transparent shade, which the file names in its own depth, becomes alpha."""
    shade = SHADE[str(image.tile[0].args)]
    is_deep, key = image.mode == "I;16", image.info.get("transparency")
    if not is_deep and key is None:
        return image  # Pillow shows and scales it right
    shades = image.convert("I")
    made = (shades.point(lambda value: value * shade) if is_deep else shades).convert("L")
    if key is not None:
        made.putalpha(_unlike(shades, key if is_deep else min(key * int(shade), 255)))
    made.format, made.info = (
        image.format,
        {name: image.info[name] for name in image.info if name != "transparency"},
    )
    return made


def _unlike(shades: Image.Image, key: int) -> Image.Image:
    return ImageMath.lambda_eval(lambda of: of["convert"]((of["shades"] != key) * 255, "L"), shades=shades)


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
    chunks = PngInfo()
    if gamma := image.info.get("gamma"):  # without it, a browser shows other brightnesses than the file's
        chunks.add(b"gAMA", struct.pack(">I", round(gamma * 100_000)))
    file = BytesIO()
    image.save(
        file, picture_format, quality=QUALITY, icc_profile=image.info.get("icc_profile"), pnginfo=chunks
    )
    return {"format": picture_format, "width": image.width, "height": image.height}, file.getvalue()


if __name__ == "__main__":
    main()
