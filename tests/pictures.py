"""Picture files for tests, made on the spot."""

import struct
import zlib
from io import BytesIO
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (32, 32), mode: str = "RGB", **options: Any) -> bytes:
    """A picture of one color."""
    written = BytesIO()
    Image.new(mode, size, 120).save(written, kind, **options)
    return written.getvalue()


def upload(content: bytes | None = None, name: str = "icon.png") -> SimpleUploadedFile:
    """As a form sends it, with a declared type that is wrong."""
    return SimpleUploadedFile(name, picture() if content is None else content, content_type="text/html")


def moving(kind: str) -> bytes:
    """An animated picture of two frames."""
    written = BytesIO()
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(written, kind, save_all=True, append_images=frames[1:])
    return written.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A sound PNG header that promises many pixels, in a few bytes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(b""))
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def gray_png(
    depth: int, shades: list[int], *, key: int | None = None, gamma: int = 0, width: int = 0
) -> bytes:
    """A gray PNG of one row with a shade for each part of it, in the file's own depth."""
    part = (width or 64) // len(shades)
    bits = "".join(format(shade, f"0{depth}b") * part for shade in shades)
    row = b"\0" + int(bits, 2).to_bytes(len(bits) // 8, "big")
    header = struct.pack(">IIBBBBB", part * len(shades), 1, depth, 0, 0, 0, 0)
    chunks = [(b"IHDR", header)]
    chunks += [(b"gAMA", struct.pack(">I", gamma))] if gamma else []
    chunks += [(b"tRNS", struct.pack(">H", key))] if key is not None else []
    chunks += [(b"IDAT", zlib.compress(row)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks)
