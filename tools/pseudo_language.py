"""English with accents and some 40 % longer, which shows what isn't translated and what longer words break."""

import re
from typing import Final

# What code replaces: `%(number)d`, `%s`, `{time}`, `{{ name }}`; and what HTML means by itself.
PLACEHOLDERS: Final = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}")
_KEPT: Final = re.compile(rf"({PLACEHOLDERS.pattern}|<[^>]*>|&\w+;|%%)")
_ACCENTS: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "åƀçđéƒĝĥîĵķļɱñöƥǫŕšţûṽŵẋýžÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖƤǪŔŠŢÛṼŴẊÝŽ",
)
_LONGER: Final = 0.4


def pseudo(text: str) -> str:
    """`Şéé ýöûŕ öŕđéŕ ~~~~~~` for `See your order`. Placeholders and tags stay."""
    pieces = _KEPT.split(text)
    words = "".join(pieces[::2])
    said = "".join(piece if index % 2 else piece.translate(_ACCENTS) for index, piece in enumerate(pieces))
    letters = sum(map(str.isalpha, words))
    return said + _filling(letters) if letters else said


def _filling(letters: int) -> str:
    """Words of four letters, so that lines may break as in other languages."""
    length = max(1, round(letters * _LONGER))
    filling = "ẍẍẍẍ " * (length // 5 + 1)
    return " " + filling[:length].strip()
