"""Compares what was promised with the database and with what the apps received."""

import hashlib
import hmac
import json
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import inf
from time import monotonic, sleep, time
from typing import Any

import psycopg

from tools.soak.faults import AFTER, ONCE, Faults, Window
from tools.soak.load import Ledger
from tools.soak.memory import MINUTES, WARM_UP, Memory
from tools.soak.receiver import Arrival, Receiver
from tools.soak.seed import STOCK
from tools.soak.site import Site

SETTLES_WITHIN = 300.0  # seconds, for retries; on a quiet machine one minute is enough
STEEP = 0.01  # growth of memory in ten minutes

AppEvent = tuple[int, str, str]  # the app's number, the event, the order's id

WAITING = "SELECT count(*) FROM webhooks_delivery WHERE status IN ('PENDING', 'RETRYING')"
BY_STATUS = "SELECT status, count(*) FROM webhooks_delivery GROUP BY status"
SOLD = """
SELECT product.id::text, product.stock, coalesce(sum(item.quantity) FILTER (WHERE o.customer_name LIKE 'Kim %%'), 0)
FROM stores_product product LEFT JOIN stores_orderitem item ON item.product_id = product.id
LEFT JOIN stores_order o ON o.id = item.order_id
WHERE product.id = ANY(%s::uuid[]) GROUP BY product.id
"""
# An uninstall cancels what still waits for the app, so it may never arrive. But it was written.
CANCELLED = """
SELECT app.client_id, event.type, event.data::json ->> 'orderId'
FROM webhooks_delivery delivery
JOIN webhooks_event event ON event.id = delivery.event_id
JOIN webhooks_webhook webhook ON webhook.id = delivery.webhook_id
JOIN installations_installation installation ON installation.id = webhook.installation_id
JOIN marketplace_app app ON app.id = installation.app_id
WHERE delivery.status = 'CANCELLED' AND delivery.finished_at >= installation.uninstalled_at
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure, and what is wrong with it; empty if nothing is."""

    name: str
    value: str
    problem: str = ""
    by_speed: bool = False  # a slow or shared machine may be the cause


def wait_until_settled(site: Site) -> None:
    """Until each delivery was confirmed or given up."""
    end = monotonic() + SETTLES_WITHIN
    while monotonic() < end:
        with site.postgres.connect("soak") as session:
            row = session.execute(WAITING).fetchone()
        if row and not row[0]:
            return
        sleep(0.5)


def findings(
    site: Site, ledger: Ledger, receiver: Receiver, faults: Faults, memory: Memory, world: dict[str, Any]
) -> Iterator[Finding]:
    yield from planned_faults(faults.windows, faults.planned)
    yield from _answers(ledger, faults)
    with site.postgres.connect("soak") as session:
        orders = Counter(
            name
            for (name,) in session.execute(
                "SELECT customer_name FROM stores_order WHERE customer_name LIKE 'Kim %'"
            )
        )
        statuses = dict(session.execute("SELECT id::text, status FROM stores_order").fetchall())
        deliveries = dict(session.execute(BY_STATUS).fetchall())
        succeeded = {
            str(row[0])
            for row in session.execute("SELECT id FROM webhooks_delivery WHERE status = 'SUCCEEDED'")
        }
        known = {str(row[0]) for row in session.execute("SELECT id FROM webhooks_delivery")}
        products = [merchant["product"] for merchant in world["merchants"]]
        stock = session.execute(SOLD, [products]).fetchall()
        numbers = {app["client_id"]: app["number"] for app in world["apps"]}
        cancelled = cancelled_by_uninstalls(session, numbers)
    ended = site.ended_by_themselves
    yield Finding("processes that ended by themselves", str(len(ended)), ", ".join(ended[:5]))
    yield from _orders(ledger, orders, statuses)
    yield Finding(
        "stock that is off",
        str(off := sum(left != STOCK - sold for _, left, sold in stock)),
        "sold and left don't add up" if off else "",
    )
    yield from events(ledger, receiver.arrivals, cancelled)
    yield from _deliveries(ledger, receiver, faults, deliveries, succeeded, known)
    yield from _database(site, faults)
    yield errors(lines_of_logs(site), faults.windows)
    yield from _logs(site, ledger, world)
    yield from _memory(memory)
    if faults.migrated_in is not None:
        yield Finding("migrations under load", f"{faults.migrated_in:.1f} s")
    if not faults.restored:
        return
    took = faults.first_delivery_after_restore
    yield Finding(
        "first delivery after PostgreSQL was lost and restored",
        "none" if took is None else f"{took:.1f} s",
        "it should come within 300 s" if took is None or took > 300 else "",
        by_speed=True,
    )


def planned_faults(windows: list[Window], planned: Container[str]) -> Iterator[Finding]:
    """A run without its upgrade or its restore has not shown that nothing is lost in one."""
    for name in ONCE:
        number = sum(window.name == name for window in windows)
        problem = f"there should be one, or none with --without-{name}"
        yield Finding(f"{name}s", str(number), problem if name in planned and not number else "")


def _answers(ledger: Ledger, faults: Faults) -> Iterator[Finding]:
    by_status: Counter[int] = Counter()
    for (_, status), number in ledger.answers.items():
        by_status[status] += number
    yield Finding(
        "requests", ", ".join(f"{status}: {number:,}" for status, number in sorted(by_status.items()))
    )
    yield Finding(
        "failed requests, apart from 503",
        str(len(ledger.failures)),
        "\n    ".join(sorted(set(ledger.failures))[:10]),
    )
    outside = [away for away in ledger.away if not _is_within(away.at, faults.windows)]
    # The /readyz of the first release has none.
    without = [away for away in ledger.away if not away.has_retry_after and away.route != "GET /readyz"]
    routes = ", ".join({away.route for away in outside})
    yield Finding("503 outside of a fault", str(len(outside)), routes, by_speed=True)
    yield Finding("503 without Retry-After", str(len(without)), ", ".join({away.route for away in without}))


def _orders(ledger: Ledger, orders: Counter[str], statuses: dict[str, str]) -> Iterator[Finding]:
    lost = [placed.marker for placed in ledger.placed if not orders[placed.marker]]
    doubled = [marker for marker, number in orders.items() if number > 1]
    wrong = [placed.id for placed in ledger.placed if statuses.get(placed.id) != placed.status]
    yield Finding(
        "orders accepted", f"{len(ledger.placed):,}", "" if ledger.placed else "there should be some"
    )
    yield Finding("orders lost", str(len(lost)), ", ".join(lost[:5]))
    yield Finding("orders doubled", str(len(doubled)), ", ".join(doubled[:5]))
    yield Finding("orders with another status than was accepted", str(len(wrong)), ", ".join(wrong[:5]))


def events(ledger: Ledger, arrivals: Iterable[Arrival], cancelled: set[AppEvent]) -> Iterator[Finding]:
    received = {(each.app, each.event, json.loads(each.body)["data"].get("orderId")) for each in arrivals}
    owed = set(_owed(ledger))
    lost = sorted(owed - received - cancelled)
    yield Finding("events owed", f"{len(owed):,}", "" if owed else "there should be some")
    yield Finding("of these not sent before an uninstall", str(len((owed & cancelled) - received)))
    yield Finding("events lost", str(len(lost)), str(lost[:3]) if lost else "")


def _owed(ledger: Ledger) -> Iterator[AppEvent]:
    """Events of each app that was installed on the store from before the order until it, or its status, was accepted."""
    for placed in ledger.placed:
        for install in ledger.installs:
            if install.business != placed.business or install.since > placed.began:
                continue
            end = install.ended or inf
            if placed.accepted < end:
                yield install.app, "order.created", placed.id
            if placed.confirmed is not None and placed.confirmed < end:
                yield install.app, "order.status_changed", placed.id


def cancelled_by_uninstalls(session: "psycopg.Connection[Any]", numbers: dict[str, int]) -> set[AppEvent]:
    """`numbers`: of the apps, by their client id."""
    return {(numbers[client], event, order) for client, event, order in session.execute(CANCELLED)}


def _deliveries(
    ledger: Ledger,
    receiver: Receiver,
    faults: Faults,
    deliveries: dict[str, int],
    succeeded: set[str],
    known: set[str],
) -> Iterator[Finding]:
    arrived = list(receiver.arrivals)
    received = Counter(each.delivery for each in arrived)
    claimed = [each for each in succeeded if each not in received]
    yield Finding("delivered by the database alone", str(len(claimed)), ", ".join(claimed[:3]))
    unknown = [each for each in received if each not in known]
    yield Finding("received, but not in the database", str(len(unknown)), ", ".join(unknown[:3]))
    forged = [each for each in arrived if not _is_signed(ledger, each)]
    yield Finding("wrongly signed", str(len(forged)), ", ".join(each.delivery for each in forged[:3]))
    bodies = {(each.delivery, each.body) for each in arrived}
    changed = len(bodies) - len(received)
    yield Finding("another body under the same id", str(changed), "see the receiver" if changed else "")
    yield doubled(arrived, faults.windows)
    left = {
        status: number for status, number in deliveries.items() if status not in ("SUCCEEDED", "CANCELLED")
    }
    yield Finding("deliveries", str(deliveries), f"these are not over: {left}" if left else "")
    yield Finding("webhooks and hook calls received", f"{receiver.requests:,} and {receiver.hooks:,}")


def doubled(arrivals: Iterable[Arrival], windows: list[Window]) -> Finding:
    """Each second arrival has to be explained by a fault at which this very delivery was in flight, and a fault explains one of each
    delivery.
    """
    moments = defaultdict(list)
    for each in arrivals:
        moments[each.delivery].append(each.at)
    again, unexplained = 0, []
    for delivery, at in moments.items():
        unused = list(windows)
        for first, second in pairwise(sorted(at)):
            again += 1
            window = next((each for each in unused if each.explains(delivery, first, second)), None)
            if window:
                unused.remove(window)
            else:
                unexplained.append(f"{delivery}, {second - first:.1f} s after the first")
    in_flight = sum(len(window.in_flight or ()) for window in windows)
    return Finding(
        "doubled, of those in flight at faults",
        f"{again} of {in_flight}",
        "\n    ".join(unexplained[:5]),
    )


def _is_signed(ledger: Ledger, arrival: Any) -> bool:
    if abs(arrival.wall - int(arrival.timestamp)) > 300:
        return False
    text = arrival.timestamp.encode() + b"." + arrival.body
    return any(
        hmac.compare_digest(
            f"sha256={hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()}", arrival.signature
        )
        for secret in ledger.secrets[arrival.app, arrival.business]
    )


def _database(site: Site, faults: Faults) -> Iterator[Finding]:
    """`log_lock_waits` writes a line for each statement that waited for a second."""
    log = (site.postgres.directory / "log").read_text(errors="replace")
    waits = [line for line in log.splitlines() if "still waiting for" in line]
    # A process that was stopped keeps its locks: that wait is the fault itself.
    paused = [window for window in faults.windows if window.name.endswith("is paused")]
    unexplained = [line for line in waits if not _is_within(_moment(line[:23]), paused)]
    yield Finding(
        "statements that waited over 1 s for a lock, apart from those of paused processes",
        f"{len(unexplained)} of {len(waits)}",
        "\n    ".join(unexplained[:3]),
        by_speed=True,
    )


def lines_of_logs(site: Site) -> Iterator[tuple[str, str]]:
    """Each with the name of its process."""
    for member in site.members:
        for line in member.log.read_text(errors="replace").splitlines():
            yield member.name, line


def errors(lines: Iterable[tuple[str, str]], windows: list[Window]) -> Finding:
    """Errors belong to a fault; a thread or process that crashed has logged a critical one. The first release's log has no times."""
    written, unexplained = 0, []
    for name, line in lines:
        entry = _entry(line)
        if entry.get("level") not in ("ERROR", "CRITICAL"):
            continue
        written += 1
        if "timestamp" in entry and not _is_within(_moment(entry["timestamp"]), windows):
            unexplained.append(f"{name}: {line[:600]}")
    return Finding(
        "errors in the log, apart from those during a fault",
        f"{len(unexplained)} of {written}",
        "\n    ".join(unexplained[:3]),
        by_speed=True,
    )


def _entry(line: str) -> dict[str, Any]:
    """What a line of the log says. Empty if it is no JSON, or cut off where a process was killed."""
    with suppress(ValueError):
        if line.startswith("{"):
            return dict(json.loads(line))
    return {}


def _moment(text: str) -> float:
    """Of `time.monotonic`, as the faults' windows are. Without a zone the text is in UTC."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - time() + monotonic()


def _is_within(moment: float, windows: list[Window]) -> bool:
    """Whether it was during one of these faults, or soon after it."""
    return any(window.began - 1 <= moment <= window.ended + AFTER for window in windows)


def _logs(site: Site, ledger: Ledger, world: dict[str, Any]) -> Iterator[Finding]:
    """No credential and nothing of a person is in any log."""
    known = {world["password"], "kim@example.com", "1 Harbour Road", "Kim 00"}
    known |= {merchant["email"] for merchant in world["merchants"]}
    known |= {app["client_secret"] for app in world["apps"]}
    known |= {secret for install in ledger.installs for secret in (install.token, install.secret)}
    known |= {site.environment[name] for name in ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS", "METRICS_TOKEN")}
    searched = re.compile("|".join(map(re.escape, known)))
    lines = [f"{name}: {line[:300]}" for name, line in lines_of_logs(site) if searched.search(line)]
    yield Finding(
        "lines of the log with a secret or personal data", str(len(lines)), "\n    ".join(lines[:3])
    )


def _memory(memory: Memory) -> Iterator[Finding]:
    """Judged for processes that lived for long enough; for the others only shown."""
    judged = [life for life in memory.lives.values() if life.slope is not None]
    if not judged:
        yield Finding(
            "growth of memory", f"not judged: it takes {WARM_UP + MINUTES} minutes of a process's life"
        )
    for life in sorted(memory.lives.values(), key=lambda life: life.name):
        if len(life.minutes) < 2:
            continue
        slope = life.slope
        yield Finding(
            f"memory of {life.name}",
            f"{', '.join(f'{size:.1f}' for _, size in life.minutes)} MB, by minute"
            + ("" if slope is None else f"; {slope:+.2%} in ten minutes, after the first {WARM_UP}"),
            "it grows" if slope is not None and slope > STEEP else "",
            by_speed=True,
        )
