"""Icons that a manifest may name (contract, section 9, "Manifest"): any name is accepted; unknown ones show a neutral icon."""

import re
from functools import lru_cache

from django.contrib.staticfiles import finders

from common.templatetags.ui import SPRITE

NEUTRAL = "puzzle"


@lru_cache(maxsize=1)
def known_icons() -> frozenset[str]:
    """The names of the symbols in the icon sprite."""
    path = finders.find(SPRITE)
    assert isinstance(path, str), SPRITE
    with open(path, encoding="utf-8") as sprite:
        return frozenset(re.findall(r'<symbol[^>]* id="([^"]+)"', sprite.read()))


def icon_or_neutral(name: str) -> str:
    return name if name in known_icons() else NEUTRAL
