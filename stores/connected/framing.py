"""Whether pages of shops can be framed by ours, for the previews of the page editor (contract, section 17, "People").

A shop's page is a stranger's server: it is asked by a worker alone, at most once a day and when its address changed.
"""

from datetime import datetime, timedelta
from time import monotonic
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import ConnectedStore
from common.db.rows import for_each
from common.db.transactions import forbid_transaction
from common.http.framing import refusal
from common.http.looks import BROWSER, PageRequest, Seen, look_at
from common.http.url_policy import is_own, origin_of
from stores.models import SitePage

EVERY: Final = timedelta(days=1)
STORES: Final = 40  # whose pages are looked at side by side; others have their turn after them
PAGES: Final = 20  # of each
WORKS_FOR: Final = 40.0  # seconds in which a task begins another request, of at most ten
MAX_BODY: Final = 1024  # bytes: only the headers count
HEADERS: Final = {
    "User-Agent": BROWSER,
    "Accept": "text/html,*/*;q=0.8",
    "Accept-Language": "en",
    "Sec-Fetch-Dest": "iframe",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "cross-site",
}


def look_at_pages(*, now: datetime | None = None) -> int:
    """Look at the pages that are due, for less than a minute. Returns how many. Not inside a transaction."""
    forbid_transaction()
    until, looked = monotonic() + WORKS_FOR, 0
    while monotonic() < until and (due := _due(now or timezone.now())):
        sources = {pk: PageRequest(page.url, page.business_id, HEADERS, MAX_BODY) for pk, page in due.items()}
        found = ((due[pk], seen) for pk, seen in look_at(sources, until=until))
        looked += for_each(found, lambda each: _record(*each, now or timezone.now()), task="look_at_pages")
    return looked


def _due(now: datetime) -> dict[UUID, SitePage]:
    """A few pages of each of a few stores, by chance, so that a store with many keeps no other one waiting."""
    pages = SitePage.objects.exclude(url="").filter(
        Q(framing_looked_at=None) | Q(framing_looked_at__lte=now - EVERY)
    )
    of_store = pages.filter(business=OuterRef("business"))
    stores = ConnectedStore.objects.standing().filter(Exists(of_store)).order_by("?")
    found: list[SitePage] = []
    for pk in stores.values_list("pk", flat=True)[:STORES]:
        found += _first_of(pages.filter(business=pk))
    return {page.pk: page for page in found}


def _first_of(pages: QuerySet[SitePage]) -> QuerySet[SitePage]:
    first = F("framing_looked_at").asc(nulls_first=True)
    return pages.only("business_id", "url").order_by(first, "pk")[:PAGES]


def _record(page: SitePage, seen: Seen, now: datetime) -> bool:
    """Unless the page has another address meanwhile. One whose headers can't be read isn't due again either."""
    rows = SitePage.objects.filter(pk=page.pk, url=page.url)
    is_there = rows.update(is_framable=False, framing_looked_at=now)
    if is_there and is_framable(page, seen):
        rows.update(is_framable=True)
    return bool(is_there)


def is_framable(page: SitePage, seen: Seen) -> bool:
    """A redirect to another origin would end in the policy of our page, which names the origin of the page alone."""
    answer = seen.answer
    if answer is None or not answer.succeeded or is_own(page.url):
        return False
    if origin_of(seen.url) != origin_of(page.url):
        return False
    return not refusal(
        policy=answer.headers.get("content-security-policy", ""),
        frame_options=answer.headers.get("x-frame-options", ""),
        host=settings.BASE_URL,
    )
