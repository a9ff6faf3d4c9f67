""" "Did you mean …?": the known word closest to a misspelt one."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MAX_LENGTH: Final = 60  # characters; no known word is longer, and comparing takes time


def closest(word: str, known: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """The closest of the known words, which differ in more than case. `likeness` is at most 1."""
    if len(word) > MAX_LENGTH:
        return None
    by_small = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), by_small, n=1, cutoff=likeness)
    return by_small[found[0]] if found else None


def quoted(text: str) -> str:
    """As JSON, shortened if long."""
    return json.dumps(text if len(text) <= MAX_LENGTH else text[:MAX_LENGTH] + "…", ensure_ascii=False)
