"""What the operator calls the platform, and how it looks: `PLATFORM_…` (contract, section 16)."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from django.core.exceptions import ImproperlyConfigured

from config.env.addresses import PUBLIC_LINK_SHAPE
from config.env.reading import env

NAME: Final = "Extension Platform"  # the one place for it: `tools/prose.py` refuses it elsewhere
LONGEST_NAME: Final = 40  # characters
LARGEST_LOGO: Final = 64 * 1024  # bytes
LARGEST_SIDE: Final = 4096  # pixels

_UNSEEN: Final = (
    "Cc",
    "Cf",
    "Cs",
    "Co",
    "Cn",
    "Zl",
    "Zp",
)  # control, bidi and line characters, and none at all
_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_SVG: Final = "http://www.w3.org/2000/svg"
_ACTIVE: Final = (
    "script",
    "foreignobject",
    "iframe",
    "object",
    "embed",
    "audio",
    "video",
    "handler",
    "listener",
)
_INLINE_PICTURE: Final = re.compile(
    r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE
)
# In styles and attributes: a `url()` that isn't one of the picture's own parts, other sheets, escapes that hide either.
_OUTSIDE: Final = re.compile(r"url\(\s*(?!['\"]?#)|@import|image-set|\\", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Logo:
    """The file's content. `name` changes with it, so that caches may keep it."""

    content: bytes
    name: str
    content_type: str


def platform_name() -> str:
    """`PLATFORM_NAME`."""
    name = env.str("PLATFORM_NAME", default="").strip() or NAME
    if any(unicodedata.category(each) in _UNSEEN for each in name):
        raise ImproperlyConfigured("PLATFORM_NAME has an invisible character or a line break. Leave it out.")
    if len(name) > LONGEST_NAME:
        raise ImproperlyConfigured(
            f"PLATFORM_NAME must have at most {LONGEST_NAME} characters, not {len(name)}."
        )
    return name


def platform_accent() -> str:
    """`PLATFORM_ACCENT` in small letters; empty if it isn't set."""
    color = env.str("PLATFORM_ACCENT", default="").strip().lower()
    if color and not _COLOR.fullmatch(color):
        raise ImproperlyConfigured(f"PLATFORM_ACCENT must be a color such as #0a7d4f, not {color!r}.")
    if color and len({color[1:3], color[3:5], color[5:7]}) == 1:
        raise ImproperlyConfigured(
            f"PLATFORM_ACCENT must have a hue, and {color} is a gray. Links need a tone of it on light and on dark."
        )
    return color


def platform_link(name: str) -> str:
    """An https link; empty if it isn't set."""
    text = env.str(name, default="").strip()
    if text and (not text.startswith("https://") or not PUBLIC_LINK_SHAPE.fullmatch(text)):
        raise ImproperlyConfigured(f"{name} must be a link that starts with https://, not {text!r}.")
    return text


def platform_support() -> str:
    """`PLATFORM_SUPPORT` as a link, an e-mail address as `mailto:`; empty if it isn't set."""
    text = env.str("PLATFORM_SUPPORT", default="").strip()
    link = text if text.startswith("https://") or not text else f"mailto:{text}"
    if link and not PUBLIC_LINK_SHAPE.fullmatch(link):
        raise ImproperlyConfigured(
            f"PLATFORM_SUPPORT must be an e-mail address, or a link that starts with https://, not {text!r}."
        )
    return link


def platform_logo() -> Logo | None:
    """The file that `PLATFORM_LOGO` names: an SVG that does nothing and loads nothing, or a PNG."""
    path = env.str("PLATFORM_LOGO", default="").strip()
    if not path:
        return None
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ImproperlyConfigured(
            f"PLATFORM_LOGO must be the path of a picture that this process may read: {error}."
        ) from error
    if len(content) > LARGEST_LOGO:
        raise ImproperlyConfigured(
            f"PLATFORM_LOGO must have at most {LARGEST_LOGO // 1024} KiB, and {path} has {len(content):,} bytes."
        )
    is_png = content.startswith(_PNG)
    problem = _png_problem(content) if is_png else next(_svg_problems(content), "")
    if problem:
        raise ImproperlyConfigured(f"PLATFORM_LOGO: {path} {problem}.")
    ending, kind = ("png", "image/png") if is_png else ("svg", "image/svg+xml")
    return Logo(content, f"logo-{sha256(content).hexdigest()[:16]}.{ending}", kind)


def _png_problem(content: bytes) -> str:
    from io import BytesIO

    from PIL import Image

    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as picture:
            size = picture.size
            picture.verify()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return "is no complete PNG"
    return f"is larger than {LARGEST_SIDE} pixels" if max(size) > LARGEST_SIDE else ""


def _svg_problems(content: bytes) -> Iterator[str]:
    """What is wrong with a drawing, each as the end of a sentence."""
    found: list[str] = []
    names: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if not names and (space, local) != (_SVG, "svg"):
            found.append("is neither a PNG nor an SVG")
        names.append(local)
        if local.lower() in _ACTIVE:
            found.append(f"has a {local} element, which pictures may not have")
        found.extend(_attribute_problems(local, attributes))

    def text(data: str) -> None:
        if names and names[-1] == "style" and _OUTSIDE.search(data):
            found.append("has styles that refer to something outside of it")

    def forbidden(*_: Any) -> None:
        found.append("has a document type or a processing instruction, which pictures may not have")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.buffer_size = LARGEST_LOGO + 1
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: names.pop()
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = parser.ProcessingInstructionHandler = forbidden
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        found.append(f"is neither a PNG nor an SVG: {error}" if not names else f"is no complete SVG: {error}")
    return iter(found)


def _attribute_problems(element: str, attributes: dict[str, str]) -> Iterator[str]:
    for name, value in attributes.items():
        local = name.rpartition(" ")[2].lower()
        if local.startswith("on"):
            yield f"has the attribute {local}, which runs a script"
        elif local in ("href", "src", "base"):
            if not value.strip().startswith("#") and not _INLINE_PICTURE.fullmatch(value.strip()):
                yield f"refers to something outside of it, by {local} of {element}"
        elif local == "attributename" and re.match(r"on|(?:.*:)?href", value.strip(), re.IGNORECASE):
            yield "has an animation of a link or a script"
        elif _OUTSIDE.search(value):
            yield f"refers to something outside of it, by {local} of {element}"
