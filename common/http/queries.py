"""Adds parameters to URLs of apps."""

from collections.abc import Iterable
from urllib.parse import urlencode


def with_parameters(url: str, parameters: Iterable[tuple[str, str]]) -> str:
    """The URL with parameters behind its own query, which stays as it was written, byte for byte (RFC 6749, 3.1.2)."""
    address, mark, fragment = url.partition("#")
    joint = "" if address.endswith(("?", "&")) else "&" if "?" in address else "?"
    return f"{address}{joint}{urlencode(list(parameters))}{mark}{fragment}"
