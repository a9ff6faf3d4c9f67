"""The operator's logo, and how the operator's color becomes the colors of pages and mails (contract, section 16)."""

import colorsys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Final

from django.conf import settings

PATH: Final = "/media/platform/"  # on both hosts
WHITE, INK = "#ffffff", "#0e1116"
# The ground of text that is hardest to read on, of all of `static/css/tokens.css`, for light and for dark.
LIGHT, DARK = "#f2eafb", "#0f2a1c"
ENOUGH: Final = 4.5  # contrast of text with its ground (WCAG 2.2, 1.4.3)
HOVER: Final = 0.08  # of lightness
STEP: Final = 1 / 512


@dataclass(frozen=True, slots=True)
class Palette:
    """`ground` is the accent itself, behind `text` on primary buttons. Pairs are for light and for dark."""

    ground: str
    ground_hover: str
    text: str
    link: tuple[str, str]
    link_hover: tuple[str, str]
    tint: tuple[str, str]  # behind links


def logo_path() -> str:
    """Where `PLATFORM_LOGO` is; empty without one."""
    return PATH + settings.PLATFORM_LOGO.name if settings.PLATFORM_LOGO else ""


def sheet_path() -> str:
    """Where the sheet with `PLATFORM_ACCENT` is, which changes with the color; empty without one."""
    return PATH + _sheet_name(settings.PLATFORM_ACCENT) if settings.PLATFORM_ACCENT else ""


def part(path: str) -> tuple[bytes, str] | None:
    """The content and its type, for either of these paths."""
    logo = settings.PLATFORM_LOGO
    if logo and path == PATH + logo.name:
        return logo.content, logo.content_type
    if path == sheet_path():
        return sheet(palette_of(settings.PLATFORM_ACCENT)).encode(), "text/css; charset=utf-8"
    return None


@lru_cache(maxsize=4)
def _sheet_name(accent: str) -> str:
    return f"accent-{sha256(sheet(palette_of(accent)).encode()).hexdigest()[:16]}.css"


@lru_cache(maxsize=4)
def palette_of(accent: str) -> Palette:
    text = max(WHITE, INK, key=lambda each: contrast(each, accent))
    away = -HOVER if text == WHITE else HOVER
    light, dark = _tone(accent, LIGHT, -STEP), _tone(accent, DARK, STEP)
    return Palette(
        ground=accent,
        ground_hover=_moved(accent, away),
        text=text,
        link=(light, dark),
        link_hover=(_moved(light, -HOVER), _moved(dark, HOVER)),
        tint=(_tint(accent, 1.0, LIGHT), _tint(accent, 0.0, DARK)),
    )


def sheet(colors: Palette) -> str:
    """Over the tokens of `static/css/tokens.css`, which are in a layer."""
    pairs = {
        "--accent": colors.link,
        "--accent-hover": colors.link_hover,
        "--accent-bg": colors.tint,
    }
    rules = [f"{name}:light-dark({light},{dark})" for name, (light, dark) in pairs.items()]
    rules += [
        f"--primary:{colors.ground}",
        f"--primary-hover:{colors.ground_hover}",
        f"--on-primary:{colors.text}",
    ]
    return f":root{{{';'.join(rules)}}}\n"


def contrast(one: str, other: str) -> float:
    """By WCAG 2.2: from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    linear = [
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in _channels(color)
    ]
    return sum(share * each for share, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _tone(accent: str, ground: str, step: float) -> str:
    """The accent, or the nearest tone of its hue that can be read on the ground."""
    return next(each for each in _tones(accent, step) if contrast(each, ground) >= ENOUGH)


def _tones(accent: str, step: float) -> Iterator[str]:
    """Of one hue, from the accent on towards black or white."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(accent))
    while 0 < lightness < 1:
        yield _color(colorsys.hls_to_rgb(hue, lightness, saturation))
        lightness += step
    yield INK if step < 0 else WHITE


def _tint(accent: str, lightness: float, ground: str) -> str:
    """A ground of the accent's hue that is as good to read on as this one, and no more colorful than it has to be seen."""
    hue, _, saturation = colorsys.rgb_to_hls(*_channels(accent))
    step = -STEP if lightness else STEP
    found = WHITE if lightness else "#000000"
    good = contrast(found, ground)
    while True:
        lightness += step
        tint = _color(colorsys.hls_to_rgb(hue, lightness, saturation * 0.6))
        if contrast(tint, WHITE if step < 0 else "#000000") > good:
            return found
        found = tint


def _moved(color: str, by: float) -> str:
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(color))
    return _color(colorsys.hls_to_rgb(hue, min(1.0, max(0.0, lightness + by)), saturation))


def _channels(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def _color(channels: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(each * 255):02x}" for each in channels)
