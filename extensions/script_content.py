"""What a script's address serves, fetched as a shopper's browser would; and whether that is what its developer pinned."""

import hashlib
import zlib
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin
from uuid import UUID

from django.conf import settings

from common.http import transport, url_policy
from common.http.exchanges import Exchange

MAX_SIZE: Final = 2 * 1024 * 1024  # bytes
SECONDS: Final = 10.0
MOST_REDIRECTS: Final = 3
ALGORITHMS: Final = ("sha256", "sha384", "sha512")
_BROWSER: Final = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
)
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


@dataclass(frozen=True, slots=True)
class Source:
    """A script's address, and the page of a store that loads it."""

    url: str
    page: str


def fetch(sources: Mapping[UUID, Source]) -> dict[UUID, Content]:
    """What each serves to a browser that shows its page, all side by side. Redirects are followed."""
    seen: dict[UUID, Content] = {}
    at = {key: source.url for key, source in sources.items()}
    for _ in range(MOST_REDIRECTS + 1):
        under_way = {key: _submit(url, sources[key].page) for key, url in at.items()}
        answers = {key: coming.result() for key, coming in under_way.items()}
        at = {key: to for key, answer in answers.items() if (to := _leads_to(at[key], answer))}
        seen |= {key: _content(answer) for key, answer in answers.items() if key not in at}
        if not at:
            return seen
    return seen | dict.fromkeys(at, Content(problem=f"more than {MOST_REDIRECTS} redirects"))


def _submit(url: str, page: str) -> transport.Coming:
    return transport.submit(
        url, method="GET", headers=_headers(page), body=b"", timeout=SECONDS, max_body=MAX_SIZE
    )


def matches(digests: Mapping[str, str], pin: str) -> bool:
    """Whether a browser would run content with these hashes. An address that was never seen is given the benefit of the doubt."""
    name, _, pinned = pin.partition("-")
    known = digests.get(name)
    return not known or b64decode(pinned) == bytes.fromhex(known)


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
        why = _NO_ANSWER.get(answer.error_class or "", "there was no valid response")
        return Content(problem=why)
    if not answer.succeeded:
        return Content(problem=f"the server responded {answer.status}")
    if answer.truncated:
        too_large = len(answer.body) >= MAX_SIZE
        return Content(problem="it is larger than 2 MiB" if too_large else "the response broke off")
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
        body = unpacking.decompress(answer.body, MAX_SIZE)
    except zlib.error:
        return Content(problem="its compression is broken")
    if not unpacking.eof:
        return Content(problem="it is larger than 2 MiB")
    return Content(body)
