"""Looks at what servers of others serve, as a browser would, many at a time (`transport` has the limits of each request)."""

import logging
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

SECONDS: Final = 10.0  # of one look, its redirects included
MOST_REDIRECTS: Final = 3
AT_ONCE: Final = 8
BROWSER: Final = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)
NO_VALID_RESPONSE: Final = "there was no valid response"
NO_ANSWER: Final[Mapping[str, str]] = {
    "dns": "its host name wasn’t found",
    "refused": "the connection was refused",
    "reset": "the connection broke",
    "tls": "the certificate or TLS connection is not valid",
    "timeout_connect": "no connection within 10 seconds",
    "timeout_response": "no complete response within 10 seconds",
    "blocked_address": "its address is not a public one",
}


@dataclass(frozen=True, slots=True)
class PageRequest:
    """An address, and whose it is: an app's, a store's. `max_body` is in bytes."""

    url: str
    owner: UUID
    headers: Mapping[str, str]
    max_body: int


@dataclass(frozen=True, slots=True)
class Seen:
    """`url` is where redirects have led, and `answer` what it responded, also with an error. Without one, `problem` says why."""

    url: str
    answer: Exchange | None
    problem: str = ""


NOT_ASKED: Final = Seen("", None, "its host doesn’t answer")  # another request, and so got no second one


def look_at(sources: Mapping[UUID, PageRequest], *, until: float) -> Iterator[tuple[UUID, Seen]]:
    """What each serves, as it comes in. Redirects are followed.

    A host and an owner have one request at a time. A host that doesn't answer gets no other one: its other addresses are
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
            seen = look.end(coming)
            if look.is_unanswered:
                silent.add(look.host)
            if seen is None:
                waiting.insert(0, look)
            else:
                yield look.key, seen


@dataclass(slots=True, eq=False)
class _Look:
    """At one address. `url` is where its redirects have led so far."""

    key: UUID
    source: PageRequest
    url: str
    left: float = field(default_factory=lambda: SECONDS)
    redirects: int = 0
    is_unanswered: bool = False

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    def submit(self) -> transport.Coming:
        return transport.submit(
            self.url,
            method="GET",
            headers=self.source.headers,
            body=b"",
            timeout=self.left,
            max_body=self.source.max_body,
        )

    def end(self, coming: Future[Exchange]) -> Seen | None:
        """None if it goes on at another address. Whatever happens here, the looks at the others go on."""
        try:
            answer = coming.result()
            self.is_unanswered = answer.status is None or broke_off(answer, self.source.max_body)
            to = _leads_to(self.url, answer)
        except Exception:
            log.exception("The response of %s could not be read.", self.url)
            return Seen(self.url, None, NO_VALID_RESPONSE)
        if answer.status is None:
            return Seen(self.url, None, NO_ANSWER.get(answer.error_class or "", NO_VALID_RESPONSE))
        if not to:
            return Seen(self.url, answer)
        self.url, self.redirects = to, self.redirects + 1
        self.left -= answer.duration_ms / 1000
        if self.redirects > MOST_REDIRECTS:
            return Seen(self.url, None, f"more than {MOST_REDIRECTS} redirects")
        return None if self.left > 0 else Seen(self.url, None, NO_ANSWER["timeout_response"])


def _next(waiting: Sequence[_Look], under_way: Collection[_Look]) -> list[_Look]:
    """The looks to begin now."""
    busy = {taken for look in under_way for taken in (look.host, look.source.owner)}
    found: list[_Look] = []
    room = AT_ONCE - len(under_way)
    for look in waiting:
        if len(found) < room and busy.isdisjoint((look.host, look.source.owner)):
            found.append(look)
            busy |= {look.host, look.source.owner}
    return found


def broke_off(answer: Exchange, max_body: int) -> bool:
    """Or it took too long."""
    return answer.truncated and len(answer.body) < max_body


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
