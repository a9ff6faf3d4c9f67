"""Pushes what the outbox notes, one process for a store, beside the shop's own.

It may be killed anywhere, and several may run: a row that is pushed twice is unchanged the second time.
"""

from __future__ import annotations

import hashlib
import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from .client import Record, StoreClient
from .errors import ApiError, PlatformError
from .outbox import Outbox, Work
from .plain import to_json
from .shop import RESOURCES, Resource, Row, Shop

log = logging.getLogger("extension_platform_store")

BY_ITSELF: tuple[Resource, ...] = ("products", "pages")  # the others when an app may read them
BATCH = 100  # rows of a push
MOST_BYTES = 900_000  # of a push; the platform reads 1 MiB
INTERVAL = 5_000  # rows of one comparison
POLL = 0.2  # seconds between two looks into an empty outbox
LOOK = 10.0  # seconds between two questions what is wanted, which are answered by 304 mostly
COMPARE = 24 * 3600.0  # seconds between two comparisons of everything
LONGEST_PAUSE = 30.0
SETTLES = 2.0  # seconds after which the platform's answer has every install that came before
CLOCKS = timedelta(minutes=1)  # by which the two clocks may differ


class Unmade(Row):
    """In place of a row that the shop failed to make."""


class Sender:
    """``run`` works until it is stopped; ``step`` does what is due now, for tests and for a scheduler of yours."""

    def __init__(
        self,
        client: StoreClient,
        outbox: Outbox,
        shop: Shop,
        *,
        record: Record | None = None,
        clock: Callable[[], float] = time.time,
        compare_every: float = COMPARE,
    ) -> None:
        """``record`` is the store's: with it, the store is opened, or changed, before anything is pushed."""
        self._client, self._outbox, self._shop = client, outbox, shop
        self._record = record
        self._clock, self._compare_every = clock, compare_every
        self._wanted: Record = {}
        self._etag: str | None = None
        self._placements_etag: str | None = None
        self._looked_at = self._look_at = 0.0
        self.failures = 0
        """Steps that failed since the last one that didn't."""

    def run(self, stop: threading.Event | None = None) -> None:
        """Work until ``stop`` is set. Whatever fails is logged and tried again; nothing is raised."""
        stop = stop or threading.Event()
        while not stop.is_set():
            stop.wait(self.once())

    def once(self) -> float:
        """``step``, of which a failure is logged. Return the seconds to rest."""
        try:
            worked = self.step()
        except PlatformError as error:
            self.failures += 1
            pause = min(LONGEST_PAUSE, 0.25 * float(2 ** min(self.failures, 10))) * random.uniform(0.5, 1)  # noqa: S311 - no secret
            told = error.retry_after if isinstance(error, ApiError) else None
            wait = max(pause, told or 0.0)
            log.warning("The platform can't be used now, the next try is in %.1f s: %s", wait, error)
            return wait
        except Exception:
            self.failures += 1
            log.exception("The shop's rows can't be pushed.")
            return LONGEST_PAUSE
        self.failures = 0
        return 0.0 if worked else POLL

    def step(self) -> bool:
        """Do what is due, and return whether there may be more at once.

        Raises ``PlatformError`` if the platform can't be used, and whatever the shop raises.
        """
        if self._record is not None:
            self._outbox.note("business", self._client.put_store(self._record)["id"])
            self._record = None
        if self._clock() >= self._look_at:
            self._look()
        works = self._outbox.take(BATCH)
        if works:
            self._push(works)
            return True
        compared_at = self._outbox.state("compared_at")
        if compared_at is None:
            self.fill()
            return True
        if self._clock() - compared_at >= self._compare_every:
            self.compare()
            return True
        return False

    def fill(self) -> None:
        """Mark all products and pages of the shop, as what is older than the connection: nothing is published of them.

        ``step`` does so once, in the beginning.
        """
        with self._outbox.atomic():
            for resource in BY_ITSELF:
                self._fill(resource, None)
            self._outbox.note("compared_at", self._clock())

    def compare(self, resources: Iterable[Resource] = RESOURCES) -> dict[str, dict[str, int]]:
        """Compare everything with the platform, and mark what differs. Return the numbers, by kind.

        It finds what was never marked: changes past your own code, rows that were lost here or there.
        """
        self._look()
        found: dict[str, dict[str, int]] = {}
        for resource in resources:
            if self._is_wanted(resource):
                found[resource] = self._compare(resource)
        self._outbox.clean()
        self._outbox.note("compared_at", self._clock())
        return found

    # What is wanted

    def _look(self) -> None:
        looked_at = self._clock()
        record, self._etag = self._client.wanted(self._etag)
        self._looked_at, self._look_at = looked_at, looked_at + LOOK
        if record is not None:
            self._take_wanted(record)
        if self._wanted.get("placements"):
            placed, self._placements_etag = self._client.placements(etag=self._placements_etag)
            if placed is not None:
                self._outbox.note("hosts", placed["hosts"])

    def _take_wanted(self, record: Record) -> None:
        self._wanted = record
        if record != self._outbox.state("wanted"):
            self._outbox.note("wanted", record)
        since = record.get("ordersSince")
        self._begin_or_end("orders", since)
        self._begin_or_end("reviews", record.get("reviews") or None)

    def _begin_or_end(self, resource: Resource, now: Any) -> None:
        """Push what is older than the first app that reads these. After the last one nothing is kept there."""
        name = f"filled:{resource}"
        before = self._outbox.state(name)
        if now == before:
            return
        with self._outbox.atomic():
            if now is None:
                self._outbox.forget(resource)
            else:
                self._fill(resource, self._since(resource))
            self._outbox.note(name, now)

    def _fill(self, resource: Resource, since: datetime | None) -> None:
        with self._outbox.atomic():
            for ids in _chunks(self._shop.ids(resource, since), 500):
                self._outbox.mark(resource, *ids, quiet=True)

    def _since(self, resource: Resource) -> datetime | None:
        text = self._wanted.get("ordersSince") if resource == "orders" else None
        return datetime.fromisoformat(text) if text else None

    def _is_wanted(self, resource: Resource) -> bool:
        return bool(self._wanted.get(resource))

    # Pushing

    def _push(self, works: Sequence[Work]) -> None:
        rows: dict[tuple[Resource, str], Row] = {}
        for resource in dict.fromkeys(work.resource for work in works):
            ids = [work.id for work in works if work.resource == resource]
            rows |= {(resource, row_id): row for row_id, row in self._read(resource, ids).items()}
        unmade = [work for work in works if isinstance(rows.get((work.resource, work.id)), Unmade)]
        for work in unmade:
            self._outbox.postpone(work, LONGEST_PAUSE)
        works = [work for work in works if work not in unmade]
        overtaken = self._outbox.overtaken(works)
        unread = self._unread(works)
        for quiet in (False, True):
            sent: list[tuple[Work, Record]] = []
            for work in works:
                if (work.resource, work.id) in overtaken or work.quiet != quiet:
                    continue  # its other mark is taken next time
                if (work.resource, work.id) in unread:
                    self._leave(work)
                    continue
                sent.append((work, _pushed(work, rows.get((work.resource, work.id)))))
            for part in _parts(sent):
                self._push_part(part, quiet=quiet)

    def _read(self, resource: Resource, ids: Sequence[str]) -> dict[str, Row]:
        """The shop's rows. One that the shop fails to make doesn't keep the others back."""
        try:
            return dict(self._shop.rows(resource, ids))
        except Exception:
            if len(ids) == 1:
                log.exception("The shop can't make the row %s %s.", resource, ids[0])
                return {ids[0]: Unmade()}
        middle = len(ids) // 2
        return self._read(resource, ids[:middle]) | self._read(resource, ids[middle:])

    def _unread(self, works: Sequence[Work]) -> set[tuple[Resource, str]]:
        """Orders and reviews that no app may read, and that aren't there: no data is sent for nothing."""
        found: set[tuple[Resource, str]] = set()
        for resource in ("orders", "reviews"):
            ids = [work.id for work in works if work.resource == resource]
            if ids and not self._is_wanted(resource):
                there = self._outbox.is_kept(resource, ids)
                found |= {(resource, row_id) for row_id in ids if row_id not in there}
        return found

    def _leave(self, work: Work) -> None:
        """Drop it once the platform has said so later than it was made: an app may have been installed just before."""
        if self._looked_at >= work.made_at + SETTLES:
            self._outbox.kept(work, "")
        else:
            wait = max(0.0, work.made_at + SETTLES - self._clock())
            self._outbox.postpone(work, wait)
            self._look_at = min(self._look_at, self._clock() + wait)

    def _push_part(self, part: Sequence[tuple[Work, Record]], *, quiet: bool) -> None:
        try:
            results = self._client.push([row for _, row in part], quiet=quiet)
        except ApiError as error:
            if error.status_code not in (400, 413):
                raise
            if len(part) > 1:  # one of them is why: find it
                middle = len(part) // 2
                self._push_part(part[:middle], quiet=quiet)
                self._push_part(part[middle:], quiet=quiet)
            else:
                self._refuse(part[0][0], error.message)
            return
        for (work, row), result in zip(part, results, strict=True):
            self._settle(work, row, result)

    def _settle(self, work: Work, row: Record, result: Record) -> None:
        error = result.get("error")
        if error is None:
            is_there = not row.get("deleted") and result.get("result") != "unwanted"
            self._outbox.kept(work, digest_of(row["data"]) if is_there else "")
        elif error.get("statusCode") == 409:
            self._outbox.postpone(work, 0)  # this version has another content there: a new one has not
        elif error.get("statusCode", 500) >= 429:
            self._outbox.postpone(work, LONGEST_PAUSE)
        else:
            details = ", ".join(
                f"{each.get('field')}: {each.get('message')}" for each in error.get("details") or []
            )
            self._refuse(work, details or str(error.get("message")))

    def _refuse(self, work: Work, reason: str) -> None:
        log.error("The platform refuses %s %s: %s", work.resource, work.id, reason)
        self._outbox.refuse(work, reason)

    # Comparing

    def _compare(self, resource: Resource) -> dict[str, int]:
        taken_at = datetime.fromtimestamp(self._clock(), UTC) - CLOCKS
        numbers = {"unmarked": self._find_unmarked(resource)}
        rows = self._outbox.versions(resource)
        after: str | None = None
        for start in range(0, max(1, len(rows)), INTERVAL):
            part = rows[start : start + INTERVAL]
            is_last = start + INTERVAL >= len(rows)
            until = None if is_last else part[-1][0]
            answer = self._client.compare(resource, part, after=after, until=until, taken_at=taken_at)
            after = until
            self._outbox.mark(resource, *answer["missing"], *answer["outdated"])
            self._outbox.mark(resource, *answer["ahead"], force=True)
            for name in ("missing", "outdated", "ahead", "unknown"):
                numbers[name] = numbers.get(name, 0) + len(answer[name])
        return numbers

    def _find_unmarked(self, resource: Resource) -> int:
        """Mark what changed without a mark: rows that are new, gone, or have another content than was pushed."""
        since = self._since(resource)
        there = set(self._shop.ids(resource, since))
        marked = self._outbox.marked(resource)
        kept = {row_id for row_id, _ in self._outbox.versions(resource)}
        refused = {row_id for each, row_id, _ in self._outbox.refused() if each == resource}
        changed = there - kept - refused
        if resource != "orders":  # no order is deleted, and older ones are kept
            changed |= kept - there
        for ids in _chunks(sorted(kept & there), BATCH):
            digests, rows = self._outbox.digests(resource, ids), self._read(resource, ids)
            changed |= {
                row_id for row_id in ids if row_id in rows and digest_of(rows[row_id]) != digests.get(row_id)
            }
        changed -= marked
        self._outbox.mark(resource, *sorted(changed))
        return len(changed)


def digest_of(row: Mapping[str, Any]) -> str:
    """The same for equal rows, whatever the order of their fields. A quote is no content."""
    content = {name: value for name, value in row.items() if name != "quote"}
    return hashlib.sha256(to_json(content).encode()).hexdigest()


def _pushed(work: Work, row: Row | None) -> Record:
    pushed: Record = {"resource": work.resource, "id": work.id, "version": work.version}
    if row is None:
        return pushed | {"deleted": True}
    if work.force:
        pushed["force"] = True
    return pushed | {"data": row | ({"quote": work.quote} if work.quote else {})}


def _parts(sent: Sequence[tuple[Work, Record]]) -> Iterator[list[tuple[Work, Record]]]:
    """In pushes that the platform reads. A row that is too long is alone, and is refused."""
    part: list[tuple[Work, Record]] = []
    size = 0
    for work, row in sent:
        length = len(to_json(row).encode()) + 1
        if part and size + length > MOST_BYTES:
            yield part
            part, size = [], 0
        part.append((work, row))
        size += length
    if part:
        yield part


def _chunks(ids: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(ids)
    while chunk := list(islice(iterator, size)):
        yield chunk
