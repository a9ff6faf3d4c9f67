"""Masks secrets and personal data in text that is kept for a developer to read."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final

MASK: Final = "…"

# Every pattern is bounded, or starts only where a run begins, so that a hostile text costs no more than its length.
_OURS: Final = re.compile(r"(fb(?:at|cs|dt)_(?:test_)?|whsec_(?:test_)?)([A-Za-z0-9_+/=.~-]+)")
_MASKED: Final = re.compile(rf"(?:fb(?:at|cs|dt)|whsec)_(?:test_)?{MASK}.{{0,4}}")
_JWT: Final = re.compile(r"(?<![\w-])eyJ[\w-]{5,}\.[\w-]+\.[\w-]*")
_AUTHORIZATION: Final = re.compile(r"\b(Bearer|Basic)(\s{1,4}|%20|\+)[A-Za-z0-9._~+/=%-]{4,}", re.IGNORECASE)
_HIDDEN: Final = (
    r"(?:passw|passphrase|pwd|secret|token|authoriz|api_?-?key|private_?-?key|signature|credential|cookie|session_?-?id"
    r"|card_?-?n|cvv|cvc|iban)"
)
_SECRET: Final = re.compile(_HIDDEN, re.IGNORECASE)
_KEY: Final = re.compile(r'("[^"\\]{0,100}+(?:\\.[^"\\]{0,100}+){0,20}+")\s{0,20}:\s{0,20}', re.DOTALL)
_JSON: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\]]|[^\s{}\[\],:"]++', re.DOTALL)
_PARAMETER: Final = re.compile(r"(?<=[?&;])([^=&;\s]{1,100})=([^&;\s]+)")
_CARD: Final = re.compile(r"\d(?<![\w.-]\d)(?:[ -]?\d){13,18}(?![\w-])")
_EMAIL: Final = re.compile(r"(?<![\w.+%-])[\w.+%-]+?(?:@|%40)[\w-]+(?:\.[\w-]+)+")
_PHONE: Final = re.compile(r"(?:\+|%2B)\d(?:[ ().-]|%20)?(?:\d(?:[ ().-]|%20){0,2}){5,20}\d", re.IGNORECASE)

_GAP: Final = r"(?:[ ()./+-]|%20|%2F|%28|%29)"
# Without the code of a country: 0170 1234567, (555) 123-4567. Not the beginning of an id.
_NATIONAL: Final = re.compile(
    rf"[(\d](?<![\w.-][(\d])(?:(?<=0)\d{{1,4}}|(?<=\()0\d{{1,4}}|(?<=\d)\d\d(?={_GAP}{{1,2}}\d{{3}}{_GAP}\d{{4}}(?![\w-]))"
    rf"|(?<=\()\d{{3}}(?={_GAP}{{1,2}}\d{{3}}{_GAP}\d{{4}}(?![\w-]))){_GAP}{{0,2}}(?:\d{_GAP}?){{4,12}}\d(?![\w-])",
    re.IGNORECASE,
)
_SHOWN: Final = frozenset(  # parameters of the APIs that never hold what people are called or typed
    "after category createdAfter createdBefore format isAvailable limit page pageSize productId resource since status type until"
    " updatedSince".split()
)
_SEGMENT: Final = re.compile(
    r"(?:[a-z][a-z_-]{0,40}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{1,6})?"
)


def mask(text: str, *, personal: bool) -> str:
    """Replace secrets, and with `personal` also e-mail addresses, phone numbers and what people typed into a URL's query.

    Of our own credentials the prefix and the last four characters stay, by which people recognize them.
    """
    text = "".join(_without_secret_fields(_OURS.sub(_ours, text)))
    text = _JWT.sub("eyJ" + MASK, text)
    text = _AUTHORIZATION.sub(rf"\1\2{MASK}", text)
    text = _PARAMETER.sub(_typed if personal else _parameter, text)
    text = _CARD.sub(_card, text)
    if personal:
        text = _PHONE.sub("+" + MASK, _EMAIL.sub(f"{MASK}@{MASK}", text))
        text = _NATIONAL.sub(MASK, text)
    return text


def mask_path(path: str, *, personal: bool) -> str:
    """`mask` for the path and query of a call. With `personal` only words and ids of the path stay."""
    if personal:
        path, mark, query = path.partition("?")
        path = "/".join(each if _SEGMENT.fullmatch(each) else MASK for each in path.split("/")) + mark + query
    return mask(path, personal=personal)


def _without_secret_fields(text: str) -> Iterator[str]:
    """The pieces of a text with JSON inside, which may be cut off. The whole value of a secret field is one mask."""
    copied = at = 0
    while found := _KEY.search(text, at):
        at = found.end()
        if not _is_secret(found[1]) or not (value := _JSON.match(text, at)):
            continue
        at = _end_of(text, value)
        yield text[copied : value.start()] + _masked_value(value[0])
        copied = at
    yield text[copied:]


@lru_cache(maxsize=1000)
def _is_secret(key: str) -> bool:
    """Of a key of JSON as it is written, or a parameter."""
    name = key
    if "\\" in key:
        with suppress(ValueError):
            name = str(json.loads(key, strict=False))
    return _SECRET.search(name) is not None


def _masked_value(mark: str) -> str:
    """For a value that begins with this mark. One that was cut off stays open."""
    if mark in ("true", "false", "null"):
        return mark
    if mark[0] != '"':
        return f'"{MASK}"'
    inside = mark[1:].removesuffix('"')
    return mark if not inside or _MASKED.fullmatch(inside) else f'"{MASK}' + '"' * mark.endswith('"', 1)


def _end_of(text: str, value: re.Match[str]) -> int:
    """Where the value ends that begins with this mark: behind the bracket that closes it, or at the end of the text."""
    depth = 0
    for mark in _JSON.finditer(text, value.start()):
        depth += (mark[0] in "{[") - (mark[0] in "}]")
        if depth <= 0:
            return mark.end()
    return len(text)


def _ours(found: re.Match[str]) -> str:
    return f"{found[1]}{MASK}{found[2][-4:]}" if len(found[2]) >= 16 else f"{found[1]}{MASK}"


def _card(found: re.Match[str]) -> str:
    """The number of a payment card, by its check digit, without all but its last four digits."""
    digits = [int(each) for each in found[0] if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
    is_card = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    return MASK + found[0][-4:] if is_card else found[0]


def _parameter(found: re.Match[str]) -> str:
    return f"{found[1]}={MASK}" if _is_secret(found[1]) else found[0]


def _typed(found: re.Match[str]) -> str:
    return found[0] if found[1] in _SHOWN else f"{found[1]}={MASK}"
