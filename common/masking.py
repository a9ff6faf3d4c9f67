"""Masks secrets and personal data in text that is kept for a developer to read."""

import re
from typing import Final

MASK: Final = "…"

# Every pattern is bounded, or starts only where a run begins, so that a hostile text costs no more than its length.
_OURS: Final = re.compile(r"(fb(?:at|cs|dt)_(?:test_)?|whsec_(?:test_)?)([A-Za-z0-9_+/=.~-]+)")
_MASKED: Final = re.compile(rf"(?:fb(?:at|cs|dt)|whsec)_(?:test_)?{MASK}.{{0,4}}")
_JWT: Final = re.compile(r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]+\.[\w-]*")
_AUTHORIZATION: Final = re.compile(r"\b(Bearer|Basic)(\s{1,4}|%20|\+)[A-Za-z0-9._~+/=%-]{4,}", re.IGNORECASE)
_HIDDEN: Final = r"(?:passw|secret|token|authoriz|api_?-?key|signature|credential)"
_FIELD: Final = re.compile(
    rf'("[^"\\]{{0,40}}{_HIDDEN}[^"\\]{{0,40}}"\s{{0,4}}:\s{{0,4}}")((?:[^"\\]|\\.)*)', re.IGNORECASE
)
_PARAMETER: Final = re.compile(rf"([?&;][^=&;]{{0,40}}{_HIDDEN}[^=&;]{{0,40}}=)[^&;\s]+", re.IGNORECASE)
_EMAIL: Final = re.compile(r"(?<![\w.+%-])[\w.+%-]+?(?:@|%40)[\w-]+(?:\.[\w-]+)+")
_PHONE: Final = re.compile(r"(?:\+|%2B)\d(?:[ ().-]|%20)?(?:\d(?:[ ().-]|%20){0,2}){5,20}\d", re.IGNORECASE)


def mask(text: str, *, personal: bool) -> str:
    """Replace secrets, and with `personal` also e-mail addresses and international phone numbers.

    Of our own credentials the prefix and the last four characters stay, by which people recognize them.
    """
    text = _FIELD.sub(_field, _OURS.sub(_ours, text))
    text = _JWT.sub("eyJ" + MASK, text)
    text = _AUTHORIZATION.sub(rf"\1\2{MASK}", text)
    text = _PARAMETER.sub(rf"\1{MASK}", text)
    if personal:
        text = _PHONE.sub("+" + MASK, _EMAIL.sub(f"{MASK}@{MASK}", text))
    return text


def _ours(found: re.Match[str]) -> str:
    return f"{found[1]}{MASK}{found[2][-4:]}" if len(found[2]) >= 16 else f"{found[1]}{MASK}"


def _field(found: re.Match[str]) -> str:
    """The value of a field whose name says that it is secret."""
    value = found[2]
    return found[1] + (value if not value or _MASKED.fullmatch(value) else MASK)
