"""Did you mean: the known word that a misspelt one is closest to."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MAX_LENGTH: Final = 60  # characters; nothing known is longer, and comparing takes time


def closest(word: str, known: Iterable[str]) -> str | None:
    """Of the known words, which differ in more than their case."""
    if len(word) > MAX_LENGTH:
        return None
    by_small = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), by_small, n=1)
    return by_small[found[0]] if found else None


def quoted(text: str) -> str:
    """As JSON writes it, cut where it is long."""
    return json.dumps(text if len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + "…", ensure_ascii=False)
