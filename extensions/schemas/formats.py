"""The formats of settings: `format` is an assertion here, and only for those named below.

The jsonschema library's own checkers are not used: `color` is not among them for Draft 2020-12, its `uri` takes
`javascript:`, and those for `regex`, `iri` and `idn-hostname` take a hostile text's time.
"""

import re
from collections.abc import Callable
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from jsonschema import FormatChecker

from extensions.schemas.patterns import InvalidPattern, compiled

MAX_URI: Final = 2048

_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_OFFSET: Final = re.compile(r".*(?:[Zz]|[+-]\d{2}:\d{2})", re.ASCII)
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
_EMAIL: Final = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_HOST: Final = re.compile(
    r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_NOT_IN_URI: Final = re.compile(r"[\s\\<>\"{}|^`\x00-\x1f\x7f]")


def is_color(text: str) -> bool:
    """`#rrggbb`, the value of `<input type="color">`."""
    return _COLOR.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """A web address: http or https, with a host. Other schemes may run script where a theme links them."""
    if len(text) > MAX_URI or _NOT_IN_URI.search(text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_moment(text: str) -> bool:
    """RFC 3339: date, time and offset."""
    return _MOMENT.fullmatch(text) is not None and _reads(moment, text)


def moment(text: str) -> datetime:
    """A `date-time` as a datetime with its offset. Raises `ValueError`."""
    seconds, _, rest = text.upper().partition(".")
    digits = re.match(r"\d*", rest)
    fraction = digits.group()[:6].ljust(6, "0") if digits and rest else ""
    return datetime.fromisoformat(
        f"{seconds}.{fraction}{rest[digits.end() :]}" if digits and rest else seconds
    )


def is_time(text: str) -> bool:
    return len(text) < 40 and _OFFSET.fullmatch(text) is not None and _reads(time.fromisoformat, text)


def is_date(text: str) -> bool:
    return len(text) == 10 and _reads(date.fromisoformat, text)


def is_email(text: str) -> bool:
    return len(text) <= 320 and _EMAIL.fullmatch(text) is not None


def is_hostname(text: str) -> bool:
    return len(text) <= 253 and _HOST.fullmatch(text) is not None


def is_uuid(text: str) -> bool:
    return len(text) == 36 and text.count("-") == 4 and _reads(UUID, text)


def is_pattern(text: str) -> bool:
    try:
        compiled(text)
    except InvalidPattern:
        return False
    return True


def _reads(read: Callable[[str], Any], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


# What a text of each format must be, in the words of an error.
FORMATS: Final[dict[str, tuple[Callable[[str], bool], str]]] = {
    "color": (is_color, "a color such as #1a2b3c"),
    "date-time": (is_moment, "a date and time with its offset, such as 2026-11-20T15:04:05Z"),
    "uri": (is_uri, "a web address that starts with http:// or https://"),
    "date": (is_date, "a date such as 2026-11-20"),
    "time": (is_time, "a time with its offset, such as 15:04:05Z"),
    "email": (is_email, "an e-mail address"),
    "hostname": (is_hostname, "a host name"),
    "ipv4": (lambda text: _reads(IPv4Address, text), "an IPv4 address"),
    "ipv6": (lambda text: "%" not in text and _reads(IPv6Address, text), "an IPv6 address"),
    "uuid": (is_uuid, "a UUID"),
    "regex": (is_pattern, "a pattern"),
}


def _checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, (holds, _) in FORMATS.items():
        checker.checks(name)(lambda value, holds=holds: not isinstance(value, str) or holds(value))
    return checker


CHECKER: Final = _checker()
