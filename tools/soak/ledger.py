"""What was answered and promised, and what apps and people saw: the soak's own book, outside the product."""

import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Any, Final

import requests

# Moments are of `time.monotonic`.

FIRST: Final = "1"  # version of the app that is released in steps


@dataclass(slots=True)
class Install:
    """An app on a store, from the moment its token is there."""

    app: int
    business: str
    product: str
    slug: str  # the store's
    token: str
    secret: str
    began: float  # when the merchant was about to agree
    since: float
    webhook: str = ""  # the id of the app-defined webhook
    ended: float | None = None  # when its uninstall was about to be sent
    gone: float | None = None  # when that was answered
    cursor: str = ""  # of the feed
    seen: list[tuple[str, str, str]] = field(default_factory=list)  # in the feed: id, event, key

    def covers(self, since: float, until: float) -> bool:
        return self.since <= since and until < (self.ended or inf)

    def touches(self, since: float, until: float) -> bool:
        return self.began <= until and since <= (self.gone or inf)


@dataclass(slots=True)
class Placed:
    """An order that was accepted. `id` is empty where a shopper placed it, who doesn't learn it."""

    id: str
    marker: str
    business: str
    began: float
    accepted: float
    status: str = "PENDING"  # the last that was accepted
    changed: float = 0.0  # when
    is_paid: bool = False  # by an app
    request_id: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)  # the answer, unless it was a replay


@dataclass(frozen=True, slots=True)
class Change:
    """What an app has to learn of."""

    event: str
    key: str  # as `key_of`
    business: str
    began: float
    accepted: float


@dataclass(frozen=True, slots=True)
class Exported:
    """An export of a store's orders, as it was read."""

    business: str
    began: float
    ended: float
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Away:
    """A 503, or no answer at all."""

    at: float
    route: str
    has_retry_after: bool = True
    is_answer: bool = True


@dataclass(frozen=True, slots=True)
class Move:
    """From `ended` on so many stores run the version, and the others the first one. Moments are of `time.monotonic`."""

    version: str
    stores: int
    of: int
    began: float
    ended: float
    is_first: bool = False  # of its version


@dataclass
class Ledger:
    """All threads write to it."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    away: list[Away] = field(default_factory=list)
    # Of the app API, by request id: when it was answered, the route, and the token.
    calls: dict[str, tuple[float, str, str]] = field(default_factory=dict)
    placed: list[Placed] = field(default_factory=list)
    repeated: int = 0  # orders that were sent once more under their key
    changes: list[Change] = field(default_factory=list)
    installs: list[Install] = field(default_factory=list)
    exports: list[Exported] = field(default_factory=list)
    mails: dict[str, float] = field(default_factory=dict)  # addresses of buyers: when the order was accepted
    moves: list[Move] = field(default_factory=list)
    pictures: int = 0
    bad_pictures: list[str] = field(default_factory=list)
    undone: tuple[float, float] | None = None  # what was accepted meanwhile, a restore to a moment has undone
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, route: str, response: requests.Response) -> None:
        status = response.status_code
        with self.lock:
            self.answers[route, status] += 1
            if status == 503:
                self.away.append(Away(monotonic(), route, "Retry-After" in response.headers))
            elif status >= 500:
                self.failures.append(f"{route}: {status} {response.text[:300]}")
            elif "/app-api/" in route and 200 <= status < 300:
                token = response.request.headers["Authorization"].partition(" ")[2]
                self.calls[response.headers["X-Request-Id"]] = monotonic(), route, token

    def unanswered(self, route: str) -> None:
        with self.lock:
            self.away.append(Away(monotonic(), route, is_answer=False))

    def failed(self, words: str) -> None:
        with self.lock:
            self.failures.append(words)

    def changed(self, event: str, key: str, business: str, began: float) -> None:
        """It has just been accepted."""
        with self.lock:
            self.changes.append(Change(event, key, business, began, monotonic()))

    def active(self) -> list[Install]:
        with self.lock:
            return [install for install in self.installs if install.ended is None]

    def installed(self, app: int, business: str) -> Install | None:
        found = (each for each in self.active() if (each.app, each.business) == (app, business))
        return next(found, None)

    def is_undone(self, accepted: float) -> bool:
        return self.undone is not None and self.undone[0] <= accepted <= self.undone[1]


def key_of(event: str, data: Mapping[str, Any]) -> str:
    """What tells a change from others of its event, in a webhook's body and in the feed."""
    match event.partition(".")[0]:
        case "order":
            suffix = f" {data['status']}" if event == "order.status_changed" else ""
            return f"{data['orderId']}{suffix}"
        case "payment":
            return str(data["orderId"])
        case "review":
            return str(data.get("comment", data["id"]))
        case "product":
            suffix = f" {data['name']}" if event == "product.updated" else ""
            return str(data.get("id", data.get("productId"))) + suffix
    return ""


def read_body(body: bytes) -> tuple[str, str, Mapping[str, Any]]:
    """The event, its key and the whole body of a webhook."""
    sent = json.loads(body)
    return sent["event"], key_of(sent["event"], sent["data"]), sent
