"""Where a `next` may lead."""

import re
from typing import Final

from django.http import HttpRequest
from django.utils.http import MAX_URL_LENGTH, url_has_allowed_host_and_scheme

LONGEST: Final = 8192  # characters; no server reads a longer request line
# Characters of a request line, and neither // nor /\ at the beginning, which would be another host.
_PATH: Final = re.compile(r"/[!-.0-\[\]-~][!-\[\]-~]*")


def is_own_page(url: str, request: HttpRequest) -> bool:
    """Whether a URL that came with a request leads to a page of the same host.

    Django's check refuses everything beyond 2,048 characters, which the address of a consent page may have.
    """
    if len(url) > MAX_URL_LENGTH:
        return len(url) <= LONGEST and _PATH.fullmatch(url) is not None
    return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
