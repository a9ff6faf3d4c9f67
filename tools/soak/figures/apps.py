"""What else apps and buyers get: hook calls, the feed, exports, mails, pictures; and the log of calls."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tools.soak.figures.finding import Finding, at_most, none_of, some_of
from tools.soak.figures.orders import is_asked
from tools.soak.run import Run, owed
from tools.soak.seed import HOOKED, HOOKS

EXPORTED_WITHIN = 70.0  # seconds: an export whose message was lost is found within a minute
LOGGED_WITHIN = (
    5.0  # seconds until calls are written, and on the disk: a crash of the database loses what isn't
)


def hooks(run: Run) -> Iterator[Finding]:
    """Each order asks each hook of the store's app once."""
    received = Counter((each.request_id, each.point) for each in run.receiver.hooks if each.app == HOOKED)
    asked = [
        each for each in run.ledger.placed if is_asked(run, each) and each.id not in run.database.unanswered
    ]
    wrong = [
        f"{point} of {order.id}: {received[order.request_id, point]} times"
        for order in asked
        for point in HOOKS[HOOKED]
        if received[order.request_id, point] != 1
    ]
    yield some_of("orders whose app had to be asked", len(asked))
    yield none_of("hook calls that such an order did not make, or made twice", wrong, of=3 * len(asked))
    quiet = [each.id for each in run.ledger.placed if each.id in run.database.unanswered]
    outside = [each for each in quiet if not _is_excused(run, each)]
    yield none_of(
        "orders of which a hook had no answer, outside of a fault", outside, of=len(quiet), by_speed=True
    )


def _is_excused(run: Run, order: str) -> bool:
    placed = next(each for each in run.ledger.placed if each.id == order)
    return run.windows.excuse_delivery(placed.began, placed.accepted)


def feed(run: Run) -> Iterator[Finding]:
    """Each app that is there in the end has read, by cursor, each event that it is owed, and none twice."""
    lost, doubled, read = [], [], 0
    due = defaultdict(set)
    for install, (_, event, key), _ in owed(run):
        due[install.webhook].add((event, key))
    for install in run.ledger.active():
        read += len(install.seen)
        ids = Counter(id_ for id_, _, _ in install.seen)
        doubled += [id_ for id_, count in ids.items() if count > 1]
        seen = {(event, key) for _, event, key in install.seen}
        lost += [f"{event} {key}" for event, key in sorted(due[install.webhook] - seen)]
    yield some_of("events read in the feed", read)
    yield none_of("events missing in the feed", lost)
    yield none_of("events twice in the feed", doubled)


def exports(run: Run) -> Iterator[Finding]:
    """An export has each order that was accepted before it was asked for."""
    missing, took = [], []
    for export in run.ledger.exports:
        missing += [
            order.id
            for order in run.ledger.placed
            if order.id and order.business == export.business and order.accepted < export.began
            if order.id not in export.ids and not run.ledger.is_undone(order.accepted)
        ]
        took.append(export.ended - export.began)
    yield some_of("exports read", len(took))
    yield none_of("orders missing in an export", missing)
    yield at_most("the longest export", max(took, default=0.0), EXPORTED_WITHIN)


def mails(run: Run) -> Iterator[Finding]:
    """One for each order in the store. A broker that is emptied, or a worker that dies, takes a mail with it."""
    sent = Counter[str]()
    for file in run.site.mails.iterdir() if run.site else ():
        sent.update(line[4:] for line in file.read_text().splitlines() if line.startswith("To: "))
    outside = {
        address
        for address, at in run.ledger.mails.items()
        if not run.windows.excuse_line(at) and not run.windows.excuse_delivery(at - 1, at + 1)
    }
    yield some_of("mails to buyers", sum(sent[address] for address in run.ledger.mails))
    wrong = [f"{address}: {sent[address]}" for address in sorted(outside) if sent[address] != 1]
    yield none_of("mails to buyers, missing or doubled outside of a fault", wrong, of=len(outside))


def pictures(run: Run) -> Iterator[Finding]:
    yield some_of("pictures uploaded", run.ledger.pictures)
    yield none_of("pictures that were not served as uploaded", run.ledger.bad_pictures)


def calls(run: Run) -> Iterator[Finding]:
    """The log of calls has each call. A web server that is killed, or a database that is away, takes its last ones with it. Those of
    an app that was uninstalled are erased when its data erasure is due.
    """
    deadly = run.windows.of("web server is killed", "PostgreSQL crashes", "sessions are ended", "restore")
    gone = {each.token for each in run.ledger.installs if each.ended}
    judged = {
        id_: f"{route}: {id_}"
        for id_, (at, route, token) in run.ledger.calls.items()
        if at > run.judged_from and not run.ledger.is_undone(at) and token not in gone
        if not deadly.excuse_delivery(at, at + LOGGED_WITHIN)
    }
    missing = [words for id_, words in judged.items() if id_ not in run.database.calls]
    yield some_of("calls of apps outside of faults", len(judged), by_speed=True)
    yield none_of("calls missing in the log of calls", missing, of=len(judged))


FIGURES = (hooks, feed, exports, mails, pictures, calls)
