"""The check of what stores would load from an app: by HTTPS, reachable, and not forbidden to be framed.

The portal runs it for the developer, the review page for the reviewer. Contract section 9: saving never does.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from django.conf import settings

from common import strangers
from common.http import transport
from common.http.exchanges import Exchange
from common.http.url_policy import InvalidUrl, check_page_url
from extensions.enums import ExtensionType
from extensions.evidence import Evidence, Outcome
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.framing import refusal
from extensions.queries import manifest_document
from marketplace.models import App
from stores.addresses import stores_origin
from webhooks.diagnosis import in_short

MAX_URLS: Final = 30  # at once; the others are named as not checked
MAX_REDIRECTS: Final = 3  # that a browser would follow
TIMEOUT: Final = 5.0  # seconds for each answer
SLOW: Final = 2000  # milliseconds, after which a shopper notices
_BROWSER: Final = {"Accept": "text/html,*/*;q=0.8", "User-Agent": "Service-Checks/1.0"}


@dataclass(frozen=True, slots=True)
class Address:
    """What a browser would load, for the definitions that name it. `framed_by` are the origins of the pages around it."""

    url: str
    is_script: bool
    used_by: str
    framed_by: Sequence[str]


def frames(app: App) -> Iterator[Evidence]:
    """Of the manifest in force, for the review page."""
    addresses = addresses_of(definitions_in(manifest_document(app)))
    if not addresses:
        yield Evidence(Outcome.PASS, "There are none: stores load nothing from the app.")
    yield from check_addresses(app, addresses)


def addresses_of(all_defined: Iterable[Defined]) -> list[Address]:
    """Each address once."""
    found: dict[tuple[str, bool], list[Defined]] = {}
    for defined in all_defined:
        for name in ("renderUrl", "scriptUrl"):
            if url := defined.content.get(name):
                found.setdefault((url, name == "scriptUrl"), []).append(defined)
    return [
        Address(url, is_script, ", ".join(each.name for each in users), _framed_by(users))
        for (url, is_script), users in found.items()
    ]


def _framed_by(users: Iterable[Defined]) -> list[str]:
    """Merchants see admin pages, and blocks in the page editor; shoppers see blocks and widgets."""
    types = {each.type for each in users}
    origins = []
    if types & {ExtensionType.BLOCK, ExtensionType.ADMIN_PAGE}:
        origins.append(settings.BASE_URL)
    if types & {ExtensionType.BLOCK, ExtensionType.EMBED}:
        origins.append(stores_origin())
    return origins


def check_addresses(app: App, addresses: list[Address]) -> Iterator[Evidence]:
    """All at once, so it ends within some twenty seconds however many there are and whatever they do.

    Raises `strangers.NoPlace`.
    """
    under_way = [(each, _asked(each.url)) for each in addresses[:MAX_URLS]]
    for address, exchange in under_way:
        yield _judged(app, address, strangers.result(exchange, app.pk))
    if len(addresses) > MAX_URLS:
        yield Evidence(Outcome.SKIPPED, f"{len(addresses) - MAX_URLS} more addresses were not checked.")


def _asked(url: str) -> transport.Coming:
    return transport.submit(url, method="GET", headers=_BROWSER, body=b"", timeout=TIMEOUT, max_body=0)


def _judged(app: App, address: Address, exchange: Exchange) -> Evidence:
    """Follows redirects as a browser would, and vets each address."""
    url = address.url
    for _ in range(MAX_REDIRECTS):
        location = exchange.headers.get("location", "")
        if exchange.error_class != "redirect" or not location:
            break
        url = urljoin(url, location)
        try:
            check_page_url(url, debug=settings.DEBUG)
        except InvalidUrl as error:
            return _evidence(Outcome.FAIL, address, f"leads to {url}, which browsers refuse: {error}")
        exchange = strangers.result(_asked(url), app.pk)
    return _verdict(address, exchange)


def _verdict(address: Address, exchange: Exchange) -> Evidence:
    if exchange.status is None:
        reason = in_short(None, exchange.error_class or "")
        return _evidence(Outcome.FAIL, address, f"no answer ({reason}).")
    answered = f"answered {exchange.status} in {exchange.duration_ms:,} ms"
    if not exchange.succeeded:
        return _evidence(Outcome.FAIL, address, f"{answered}, where 200 is right.")
    if problem := _unusable(address, exchange):
        return _evidence(Outcome.FAIL, address, f"{answered}, but {problem}")
    if not address.url.startswith("https://"):
        return _evidence(Outcome.WARN, address, f"{answered}, by plain HTTP, which only DEBUG allows.")
    if exchange.duration_ms > SLOW:
        return _evidence(Outcome.WARN, address, f"{answered}. Shoppers wait for that.")
    return _evidence(Outcome.PASS, address, f"{answered}.")


def _unusable(address: Address, exchange: Exchange) -> str:
    """Why a browser would not use the response; empty if it would."""
    if address.is_script:
        kind = exchange.headers.get("content-type", "")
        return "" if "javascript" in kind.lower() else f"as {kind or 'no type'}, which is no JavaScript."
    for origin in address.framed_by:
        header = refusal(
            policy=exchange.headers.get("content-security-policy", ""),
            frame_options=exchange.headers.get("x-frame-options", ""),
            host=origin,
        )
        if header:
            return f"forbids pages of {origin} to frame it: {header}"
    return ""


def _evidence(outcome: Outcome, address: Address, said: str) -> Evidence:
    return Evidence(outcome, f"{address.used_by}: {address.url} {said}")
