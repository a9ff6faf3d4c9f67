"""Names that look like another name: Cyrillic letters among Latin ones, `rn` for `m`, accents, invisible characters.

Two names look alike if their skeletons agree (Unicode Technical Standard 39, section 4). The table of look-alike letters
is Unicode's, from the package `confusable_homoglyphs`; it is read at the first use.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from confusable_homoglyphs.utils import load

# Characters that hide or reorder letters. Joiners and direction marks stay: emoji and some scripts need them.
_HIDING: Final = re.compile("[\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_WORD: Final = re.compile(r"\w+")


def looks_like(name: str, other: str) -> bool:
    """Whether people may take one name for the other. Case, spaces, punctuation and accents don't count."""
    return not skeletons(name).isdisjoint(skeletons(other))


def edits(word: str, text: str, *, anywhere: bool = False) -> int:
    """How many letters must be added, removed or replaced to make `text` of `word` (Levenshtein); with `anywhere`, the part
    of `text` that needs the fewest.
    """
    row = [0 if anywhere else column for column in range(len(text) + 1)]
    for number, letter in enumerate(word, 1):
        before, row = row, [number]
        for column, other in enumerate(text, 1):
            row.append(min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other)))
    return min(row) if anywhere else row[-1]


@lru_cache(4096)
def skeletons(name: str) -> frozenset[str]:
    """The skeleton of a name as it is written and in lower case: `I` looks like `l`, and `i` doesn't."""
    return frozenset(filter(None, (_skeleton(name), _skeleton(name.casefold()))))


def disguise_problem(name: str) -> str:
    """Why a name may mislead its reader, as a sentence; empty if it doesn't."""
    if _HIDING.search(name):
        return "Enter a name without invisible characters."
    for word in _WORD.findall(name):
        for letter in _foreign_lookalikes(word):
            kind = unicodedata.name(letter, "a letter of another alphabet").lower()
            return f"Write {word} in one alphabet: {letter} is not a Latin letter, but {kind}."
    return ""


def _foreign_lookalikes(word: str) -> Iterator[str]:
    """Letters of other alphabets that look like Latin ones, in a word that has Latin ones."""
    if any(letter.isascii() and letter.isalpha() for letter in word):
        for letter in word:
            if not letter.isascii() and letter.isalpha() and _looks_latin(letter):
                yield letter


def _looks_latin(letter: str) -> bool:
    if "LATIN" in unicodedata.name(letter, ""):
        return False
    looks = _prototypes().get(letter, letter)
    return looks.isascii() and looks.isalpha()


def _skeleton(name: str) -> str:
    prototypes = _prototypes()
    decomposed = unicodedata.normalize("NFKD", name)
    looks = "".join(prototypes.get(character, character) for character in decomposed)
    return "".join(filter(str.isalnum, looks.casefold()))


@lru_cache(1)
def _prototypes() -> dict[str, str]:
    """For each look-alike character what it looks like: the Cyrillic ie is `e`, and `m` is `rn`.

    The package's own functions keep the whole table in memory, which goes both ways. A look-alike has exactly one entry, its prototype; of two characters that are
    each other's only entry, the ASCII one is the prototype.
    """
    return {
        character: entries[0]["c"]
        for character, entries in load("confusables.json").items()
        if len(entries) == 1 and not (character.isascii() and not entries[0]["c"].isascii())
    }
