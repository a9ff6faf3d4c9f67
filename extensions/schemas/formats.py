"""The formats that settings are checked for. Any other `format` is a note, as JSON Schema says.

The jsonschema library's own checkers are not used: `color` is not among them, and its `uri` accepts `javascript:`.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema import FormatChecker

MAX_URI: Final = 2048

_COLOR: Final = re.compile(r"#[0-9a-fA-F]{6}")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
_EMAIL: Final = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_NOT_IN_URI: Final = re.compile(r"[\s\\<>\"{}|^`\x00-\x1f\x7f]")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_color(text: str) -> bool:
    """`#rrggbb`, the value of `<input type="color">`."""
    return _COLOR.fullmatch(text) is not None


def is_uri(text: str) -> bool:
    """A web address: http or https, with a host. Other schemes may run script where a theme links them."""
    if len(text) > MAX_URI or _NOT_IN_URI.search(text):
        return False
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0


def moment(text: str) -> datetime:
    """A `date-time` (RFC 3339) as a datetime with its offset. Raises `ValueError`."""
    if not _MOMENT.fullmatch(text):
        raise ValueError(text)
    return datetime.fromisoformat(text.upper())


# What a text of each format must be, as the end of an error's sentence. A check gives a false value or raises
# `ValueError` for other texts.
FORMATS: Final[dict[str, tuple[Callable[[str], Any], str]]] = {
    "color": (is_color, "a color such as #1a2b3c"),
    "date-time": (moment, "a date and time with its offset, such as 2026-11-20T15:04:05Z"),
    "date": (lambda text: _DATE.fullmatch(text) and date.fromisoformat(text), "a date such as 2026-11-20"),
    "uri": (is_uri, "a web address that starts with http:// or https://"),
    "email": (lambda text: len(text) <= 320 and _EMAIL.fullmatch(text), "an e-mail address"),
    "ipv4": (IPv4Address, "an IPv4 address"),
    "ipv6": (lambda text: "%" not in text and IPv6Address(text), "an IPv6 address"),
    "uuid": (_UUID.fullmatch, "a UUID"),
}


def _checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    for name, (check, _) in FORMATS.items():
        checker.checks(name, raises=ValueError)(
            lambda value, check=check: not isinstance(value, str) or bool(check(value))
        )
    return checker


CHECKER: Final = _checker()
