"""The credential of `Authorization: Bearer` (RFC 6750, section 2.1)."""

import re
from typing import Final

_BEARER: Final = re.compile(r"bearer +([^ ].*?) *", re.IGNORECASE)


def token_of(header: str) -> str:
    """The token after one or more spaces. Empty if the header is missing or has another form."""
    found = _BEARER.fullmatch(header)
    return found[1] if found else ""
