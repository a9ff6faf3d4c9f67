"""The colors that stores may choose hold contrast in light and dark."""

import re
from pathlib import Path

import pytest

from stores.enums import Accent
from stores.services.order_mails import ACCENTS

CSS = (Path(__file__).parents[2] / "static/css/accents.css").read_text()
SURFACES = ("#ffffff", "#161a21")  # --surface of tokens.css, light and dark
TOKEN = re.compile(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")


@pytest.mark.parametrize("accent", Accent.values)
def test_contrast_of_a_color(accent):
    (rule,) = re.findall(rf'\[data-accent="{accent}"\]\[data-accent\] {{(.*?)}}', CSS, re.DOTALL)
    tokens = {name: colors for name, *colors in TOKEN.findall(rule)}
    assert tuple(tokens["accent"]) == ACCENTS[Accent(accent)], "mails have another color than the store"
    for look, surface in enumerate(SURFACES):
        color, hover, tint, ink = (
            tokens[name][look] for name in ("accent", "accent-hover", "accent-bg", "on-accent")
        )
        for one, other in ((color, surface), (hover, surface), (color, tint), (ink, color), (ink, hover)):
            assert contrast(one, other) >= 4.5, (accent, one, other)


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, "contrast ratio"."""
    darker, lighter = sorted(map(_luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
