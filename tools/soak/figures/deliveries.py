"""Deliveries: when and how often each was sent, how it was signed, and what the database has of it."""

import hashlib
import hmac
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from statistics import quantiles

from tools.soak.figures.finding import Finding, at_most, none_of, some_of
from tools.soak.receiver import LAME, Arrival, HookCall
from tools.soak.run import Run, moment
from tools.soak.windows import ATTEMPT

P99, MAX = (
    6.0,
    15.0,
)  # seconds until the first attempt; one dispatcher of two that hangs breaks the second
CLOCK = 300  # seconds by which a timestamp may be off


def late(run: Run) -> Iterator[Finding]:
    """The first attempt, or the end of a delivery that was cancelled without one: no app heard of it for as long. Of the apps that
    don't keep the platform waiting.
    """
    waits = [
        (run.clock.real(moment(json.loads(body)["timestamp"]), seen=at), at)
        for at, app, body in run.receiver.first.values()
        if app != LAME
    ]
    waits += [
        (each.created, each.finished)
        for id_, each in run.database.deliveries.items()
        if each.status == "CANCELLED" and each.finished and each.event != "business.data_erasure"
        if not each.attempts and id_ not in run.receiver.first and run.app_of(each.webhook) != LAME
    ]
    judged = sorted(
        max(0.0, at - written)
        for written, at in waits
        if written >= run.judged_from and not run.windows.excuse_delivery(written, at)
    )
    share = f"{run.windows.share()} of the time was within windows"
    yield some_of(f"first attempts outside of faults ({share})", len(judged), by_speed=True)
    if len(judged) > 1:
        cuts = quantiles(judged, n=100, method="inclusive")
        yield Finding("their lateness, p50 and p95", f"{cuts[49]:.2f} and {cuts[94]:.2f} s")
        yield at_most("their lateness, p99", cuts[98], P99)
        yield at_most("their lateness, at most", judged[-1], MAX)


def known(run: Run) -> Iterator[Finding]:
    """The database and the apps agree."""
    received = {each.delivery: each for each in reversed(run.receiver.arrivals)}
    rows = run.database.deliveries
    claimed = [id_ for id_, each in rows.items() if each.status == "SUCCEEDED" and id_ not in received]
    yield none_of("delivered by the database alone", claimed)
    unknown = [id_ for id_, each in received.items() if id_ not in rows and not _is_undone(run, each)]
    yield none_of("received, but not in the database", unknown)


def _is_undone(run: Run, arrival: Arrival) -> bool:
    """Whether it may have been written in the time that a restore to a moment has undone."""
    return run.ledger.is_undone(arrival.at) or run.ledger.is_undone(arrival.at - ATTEMPT)


def over(run: Run) -> Iterator[Finding]:
    number = Counter(each.status for each in run.database.deliveries.values())
    left = {status: count for status, count in number.items() if status not in ("SUCCEEDED", "CANCELLED")}
    yield Finding("deliveries", str(dict(number)), f"these are not over: {left}" if left else "")


def signed(run: Run) -> Iterator[Finding]:
    """With the secret of the very installation that the webhook belongs to. Each has its own, which never changes."""
    wrong = [
        each.delivery
        for each in run.receiver.arrivals
        if not any(is_signed(each, install.secret) for install in run.by_webhook.get(each.webhook, ()))
    ]
    yield none_of("webhooks without the signature of their installation", wrong)
    forged = [each.point for each in run.receiver.hooks if not _is_hook_signed(run, each)]
    yield none_of("hook calls without the signature of an installation of then", forged)


def _is_hook_signed(run: Run, call: HookCall) -> bool:
    return any(
        is_signed(call, install.secret)
        for install in run.ledger.installs
        if (install.app, install.business) == (call.app, call.business)
        and install.began <= call.at <= (install.gone or call.at) + ATTEMPT
    )


def is_signed(sent: Arrival | HookCall, secret: str) -> bool:
    if abs(sent.wall - int(sent.timestamp)) > CLOCK:
        return False
    text = sent.timestamp.encode() + b"." + sent.body
    digest = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={digest}", sent.signature)


def bodies(run: Run) -> Iterator[Finding]:
    """Also of the attempts that failed."""
    changed = [
        each.delivery for each in run.receiver.arrivals if each.body != run.receiver.first[each.delivery][-1]
    ]
    yield none_of("another body under the same id", sorted(set(changed)))


def doubled(run: Run) -> Iterator[Finding]:
    """Each second arrival has to be explained by a fault at which this very delivery was in flight, and a fault explains one of each
    delivery.
    """
    moments = defaultdict(list)
    for each in run.receiver.arrivals:
        moments[each.delivery].append(each.at)
    again, unexplained = 0, []
    for delivery, at in moments.items():
        unused = list(run.windows)
        for first, second in pairwise(sorted(at)):
            again += 1
            window = next((each for each in unused if each.explains(delivery, first, second)), None)
            if window:
                unused.remove(window)
            else:
                unexplained.append(f"{delivery}, {second - first:.1f} s after the first")
    in_flight = sum(len(window.in_flight or ()) for window in run.windows)
    yield Finding(
        "doubled, of those in flight at faults", f"{again} of {in_flight}", "\n    ".join(unexplained[:5])
    )


FIGURES = (late, known, over, signed, bodies, doubled)
