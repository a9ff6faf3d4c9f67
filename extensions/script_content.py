"""What a script's address serves, fetched as a shopper's browser would."""

import hashlib
import logging
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.http import looks
from common.http.exchanges import Exchange
from common.http.looks import Seen

log = logging.getLogger(__name__)

MAX_SIZE: Final = 2 * 1024 * 1024  # bytes
ALGORITHMS: Final = ("sha256", "sha384", "sha512")
_TOO_LARGE: Final = "it is larger than 2 MiB"
_BROKEN: Final = "its compression is broken"


@dataclass(frozen=True, slots=True)
class Content:
    """`problem` says why there is no `body`."""

    body: bytes = b""
    problem: str = ""

    @property
    def digests(self) -> dict[str, str]:
        return {name: hashlib.new(name, self.body).hexdigest() for name in ALGORITHMS}


NOT_ASKED: Final = Content(problem=looks.NOT_ASKED.problem)


@dataclass(frozen=True, slots=True)
class Source:
    """A script's address, its app, and the page of a store that loads it."""

    url: str
    app: UUID
    page: str


def fetch(sources: Mapping[UUID, Source], *, until: float) -> Iterator[tuple[UUID, Content]]:
    """What each serves to a browser that shows its page, as it comes in (`common.http.looks`). Some are `NOT_ASKED`."""
    asked = {
        key: looks.PageRequest(each.url, each.app, _headers(each.page), MAX_SIZE)
        for key, each in sources.items()
    }
    for key, seen in looks.look_at(asked, until=until):
        yield key, NOT_ASKED if seen is looks.NOT_ASKED else _content_of(seen)


def _headers(page: str) -> dict[str, str]:
    return {
        "User-Agent": looks.BROWSER,
        "Accept": "*/*",
        "Accept-Language": "en",
        "Referer": page,
        "Sec-Fetch-Dest": "script",
        "Sec-Fetch-Mode": "no-cors",
        "Sec-Fetch-Site": "cross-site",
    }


def _content_of(seen: Seen) -> Content:
    """No script ends the looks at the others."""
    try:
        return Content(problem=seen.problem) if seen.answer is None else _content(seen.answer)
    except Exception:
        log.exception("The script at %s could not be read.", seen.url)
        return Content(problem=looks.NO_VALID_RESPONSE)


def _content(answer: Exchange) -> Content:
    if not answer.succeeded:
        return Content(problem=f"the server responded {answer.status}")
    if answer.truncated:
        is_whole = not looks.broke_off(answer, MAX_SIZE)
        return Content(problem=_TOO_LARGE if is_whole else "the response broke off")
    return _decoded(answer)


def _decoded(answer: Exchange) -> Content:
    """Some servers compress whatever is asked of them. Browsers hash what they have unpacked."""
    encoding = answer.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return Content(answer.body)
    if encoding not in ("gzip", "x-gzip"):
        return Content(problem="it is compressed in a way that wasn’t asked for")
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        body = unpacking.decompress(answer.body, MAX_SIZE + 1)
    except zlib.error:
        return Content(problem=_BROKEN)
    if len(body) > MAX_SIZE:
        return Content(problem=_TOO_LARGE)
    return Content(body) if unpacking.eof else Content(problem=_BROKEN)
