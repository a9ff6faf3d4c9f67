"""Uploaded pictures: they must decode, and are re-encoded, so that nothing else in the file is kept or served."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final

from django.core.files.base import File

from common import places
from common.places import Work

CONTENT_TYPES: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
LONGEST: Final = 30.0  # seconds for one picture
UNREADABLE: Final = "Choose a PNG, JPEG or WebP picture. This file can't be read."
PHOTO_OF_A_PHONE: Final = (
    "Choose a PNG, JPEG or WebP picture. This one is HEIC, as iPhones save them: under Settings, Camera, Formats, choose "
    "Most Compatible."
)
HEIC: Final = (b"ftypheic", b"ftypheix", b"ftypmif1")
PROCESS: Final = Path(__file__).with_name("picture_process.py")
# Each decoding takes memory, in a process of its own. So a process has one at a time, and few of its threads wait for it.
decoding: Final = Lock()


class BadPicture(ValueError):
    """The upload is refused. `str()` of the error is a message for the person who chose the file."""


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
        return _processed(self.content, max_pixels=self.width * self.height, side=side, is_ours=True)


def decode(upload: File, *, max_bytes: int, max_pixels: int, side: int | None = None) -> Decoded:
    """Decode an uploaded picture, and scale it to at most `side` pixels wide and high. Raises `BadPicture`.

    The content alone decides the format, not the file's name or the type that was sent. Re-encoding the picture removes
    everything else in the file, such as the location of a photograph or a script after the pixels.
    """
    content = upload.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise BadPicture(f"Choose a picture of at most {max_bytes // 1024**2} MiB.")
    if content[4:12] in HEIC:
        raise BadPicture(PHOTO_OF_A_PHONE)
    return _processed(content, max_pixels=max_pixels, side=side, is_ours=False)


def _processed(content: bytes, *, max_pixels: int, side: int | None, is_ours: bool) -> Decoded:
    """By `common.files.picture_process`. Raises `BadPicture`, also if that process ran out of memory or time, and `places.Busy`."""
    places.require(Work.PICTURE)
    wanted = json.dumps({"max_pixels": max_pixels, "side": side, "is_ours": is_ours}).encode()
    command = [sys.executable, "-I", str(PROCESS)]
    try:
        with decoding:
            done = subprocess.run(  # noqa: S603  our own program
                command, input=wanted + b"\n" + content, capture_output=True, timeout=LONGEST, check=True
            )
    except subprocess.SubprocessError as error:
        raise BadPicture(UNREADABLE) from error
    line, _, picture = done.stdout.partition(b"\n")
    answer = json.loads(line)
    if "error" in answer:
        raise BadPicture(answer["error"] or UNREADABLE)
    return Decoded(picture, answer["format"], answer["width"], answer["height"])
