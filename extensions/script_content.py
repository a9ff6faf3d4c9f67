"""What a script's address serves, fetched as a shopper's browser would."""

import hashlib
import logging
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from time import monotonic
from typing import Final
from urllib.parse import urljoin, urlsplit
from uuid import UUID

from django.conf import settings

from common.http import transport, url_policy
from common.http.exchanges import Exchange

log = logging.getLogger(__name__)

MAX_SIZE: Final = 2 * 1024 * 1024  # bytes
SECONDS: Final = 10.0  # of one script, its redirects included
MOST_REDIRECTS: Final = 3
AT_ONCE: Final = 8  # of at most 2 MiB each
ALGORITHMS: Final = ("sha256", "sha384", "sha512")
_BROWSER: Final = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)
_TOO_LARGE: Final = "it is larger than 2 MiB"
_BROKEN: Final = "its compression is broken"
_NO_VALID_RESPONSE: Final = "there was no valid response"
_NO_ANSWER: Final = {
    "dns": "its host name wasn’t found",
    "refused": "the connection was refused",
    "reset": "the connection broke",
    "tls": "the certificate or TLS connection is not valid",
    "timeout_connect": "no connection within 10 seconds",
    "timeout_response": "no complete response within 10 seconds",
    "blocked_address": "its address is not a public one",
}


@dataclass(frozen=True, slots=True)
class Content:
    """`problem` says why there is no `body`."""

    body: bytes = b""
    problem: str = ""

    @property
    def digests(self) -> dict[str, str]:
        return {name: hashlib.new(name, self.body).hexdigest() for name in ALGORITHMS}


NOT_ASKED: Final = Content(problem="its host doesn’t answer")  # another request, and so got no second one


@dataclass(frozen=True, slots=True)
class Source:
    """A script's address, its app, and the page of a store that loads it."""

    url: str
    app: UUID
    page: str


def fetch(sources: Mapping[UUID, Source], *, until: float) -> Iterator[tuple[UUID, Content]]:
    """What each serves to a browser that shows its page, as it comes in. Redirects are followed.

    A host and an app have one request at a time. A host that doesn't answer gets no other one: its other scripts are
    `NOT_ASKED`. Nothing is asked after `until` (`time.monotonic`), and what was left out by then has no result.
    """
    waiting = [_Look(key, source, source.url) for key, source in sources.items()]
    under_way: dict[Future[Exchange], _Look] = {}
    silent: set[str] = set()
    while True:
        for look in [each for each in waiting if each.host in silent]:
            waiting.remove(look)
            yield look.key, NOT_ASKED
        for look in _next(waiting, under_way.values()) if monotonic() < until else ():
            waiting.remove(look)
            under_way[look.submit()] = look
        if not under_way:
            return
        for coming in wait(under_way, return_when=FIRST_COMPLETED).done:
            look = under_way.pop(coming)
            content = look.end(coming)
            if look.is_unanswered:
                silent.add(look.host)
            if content is None:
                waiting.insert(0, look)
            else:
                yield look.key, content


@dataclass(slots=True, eq=False)
class _Look:
    """At one script. `url` is where its redirects have led so far."""

    key: UUID
    source: Source
    url: str
    left: float = field(default_factory=lambda: SECONDS)
    redirects: int = 0
    is_unanswered: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def submit(self) -> transport.Coming:
        headers = _headers(self.source.page)
        return transport.submit(
            self.url, method="GET", headers=headers, body=b"", timeout=self.left, max_body=MAX_SIZE
        )

    def end(self, coming: Future[Exchange]) -> Content | None:
        """None if it goes on at another address. No script ends the looks at the others."""
        try:
            answer = coming.result()
            self.is_unanswered = answer.status is None or _broke_off(answer)
            to = _leads_to(self.url, answer)
            if not to:
                return _content(answer)
        except Exception:
            log.exception("The script at %s could not be read.", self.url)
            return Content(problem=_NO_VALID_RESPONSE)
        self.url, self.redirects = to, self.redirects + 1
        self.left -= answer.duration_ms / 1000
        if self.redirects > MOST_REDIRECTS:
            return Content(problem=f"more than {MOST_REDIRECTS} redirects")
        return None if self.left > 0 else Content(problem=_NO_ANSWER["timeout_response"])


def _next(waiting: Sequence[_Look], under_way: Collection[_Look]) -> list[_Look]:
    """The looks to begin now."""
    busy = {taken for look in under_way for taken in (look.host, look.source.app)}
    found: list[_Look] = []
    room = AT_ONCE - len(under_way)
    for look in waiting:
        if len(found) < room and busy.isdisjoint((look.host, look.source.app)):
            found.append(look)
            busy |= {look.host, look.source.app}
    return found


def _headers(page: str) -> dict[str, str]:
    return {
        "User-Agent": _BROWSER,
        "Accept": "*/*",
        "Accept-Language": "en",
        "Referer": page,
        "Sec-Fetch-Dest": "script",
        "Sec-Fetch-Mode": "no-cors",
        "Sec-Fetch-Site": "cross-site",
    }


def _leads_to(url: str, answer: Exchange) -> str:
    """Where a redirect leads, if a browser would follow it there; the transport looks at the address itself."""
    if answer.error_class != "redirect" or not answer.headers.get("location"):
        return ""
    try:
        target = urljoin(url, answer.headers["location"]).partition("#")[0]
        url_policy.check_destination_url(
            target, debug=settings.DEBUG, allow_local=settings.ALLOW_LOCAL_DESTINATIONS, resolve=False
        )
    except ValueError:
        return ""
    return target


def _content(answer: Exchange) -> Content:
    if answer.status is None:
        why = _NO_ANSWER.get(answer.error_class or "", _NO_VALID_RESPONSE)
        return Content(problem=why)
    if not answer.succeeded:
        return Content(problem=f"the server responded {answer.status}")
    if answer.truncated:
        return Content(problem="the response broke off" if _broke_off(answer) else _TOO_LARGE)
    return _decoded(answer)


def _broke_off(answer: Exchange) -> bool:
    """Or it took too long."""
    return answer.truncated and len(answer.body) < MAX_SIZE


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
