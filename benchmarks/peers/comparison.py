"""Our engine and its peers by turns: deliveries/s, p99 beside hanging endpoints, first byte, and what a SIGKILL loses."""

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Final

import psycopg

from benchmarks import shops
from benchmarks.dispatchers import Dispatchers, dispatching
from benchmarks.drain import BUSIEST_SINK, drained
from benchmarks.latency import SETTLE, SLOWEST_PACE, Latencies, first_arrivals, pace_of, published
from benchmarks.options import Options
from benchmarks.peers import catalog
from benchmarks.peers.catalog import PEERS, Peer
from benchmarks.peers.environments import PATIENCE, WARM, Peering, install, peering
from benchmarks.processes import Failed, wait_for
from benchmarks.results import Row, milliseconds, number, paired
from webhooks.models import Delivery, Webhook

RATE: Final = 100  # events a second, of which the slowest can send as many
LONGEST_DRAIN: Final = 20.0  # seconds; a peer that takes longer has shown its rate
IN_FLIGHT: Final = 1_000
INTO_IT: Final = 0.25  # seconds after the first request; endpoints take a second, so all are in flight then
LATEST: Final = 120.0  # seconds after the restart; what has not come then counts as lost
PROBLEMS: Final = (Failed, OSError, ValueError, psycopg.Error, subprocess.TimeoutExpired)

_numbers = itertools.count()  # of databases


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn measured."""

    figure: float
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of the table: what it is about, and how ours and a peer take a turn."""

    what: str
    ours: Callable[[Options], Turn]
    theirs: Callable[[Options, Peer], Turn]
    words: Callable[[float], str]
    as_ratio: bool = True  # else the worst turn counts

    def of_all(self, turns: Sequence[Turn]) -> float:
        figures = [turn.figure for turn in turns]
        return median(figures) if self.as_ratio else max(figures)


@dataclass(slots=True)
class Result:
    """The turns of a peer and, for each, that of ours in the same round; or why the peer is out."""

    theirs: list[Turn]
    ours: list[Turn]
    failure: str = ""

    def ratio(self) -> float:
        return paired([turn.figure for turn in self.theirs], [turn.figure for turn in self.ours])

    def doubts(self) -> str:
        return "; ".join({turn.doubt: None for turn in [*self.ours, *self.theirs] if turn.doubt})


def peers(options: Options) -> Iterator[Row]:
    yield from compared(options, PEERS, MEASURES)


def compared(options: Options, contenders: Sequence[Peer], measures: Sequence[Measure]) -> Iterator[Row]:
    """Each measure in rounds, in which ours is first.

    A peer that fails is out of that measure, or of all if it can't be installed. In the end the table is printed as docs/performance.md
    has it, and written beside the peers' environments.
    """
    missing = {peer: _problem(install, peer) for peer in contenders}
    results: dict[str, dict[Peer, Result]] = {}
    for measure in measures:
        columns = {peer: Result([], [], missing[peer]) for peer in contenders}
        for _ in range(options.repeats):
            ours = measure.ours(options)
            for peer, result in columns.items():
                if not result.failure:
                    result.ours.append(ours)
                    result.failure = _problem(_take_turn, options, measure, peer, result)
        results[measure.what] = columns
        yield from (_row(measure, peer, result) for peer, result in columns.items())
    table = _table(measures, results)
    (catalog.FOLDER / "table.md").write_text(table)
    print("\n" + table)


def _take_turn(options: Options, measure: Measure, peer: Peer, result: Result) -> None:
    options.sink.arrivals()
    turn = measure.theirs(options, peer)
    result.theirs.append(turn)
    print(f"  {peer.title}: {measure.what}: {measure.words(turn.figure)}", file=sys.stderr)


def _problem(do: Callable[..., None], *arguments: object) -> str:
    """Why it failed, if it did."""
    try:
        do(*arguments)
    except PROBLEMS as error:
        return str(error) or type(error).__name__
    return ""


# Deliveries/s


def _our_rate(options: Options) -> Turn:
    run = drained(options, _webhooks(options, "instant", 20), 2_000 if options.quick else 20_000)
    return Turn(run.rate, _busy(run.sink))


def _their_rate(options: Options, peer: Peer) -> Turn:
    """All is queued before the workers start. Timed from when a twentieth is recorded, so that starting doesn't count."""
    count = 1_000 if options.quick else 10_000
    with _peering(options, peer, "instant", 20) as running:
        running.add(count)
        with running.working():
            wait_for(lambda: running.recorded() >= count // 20, PATIENCE, "a twentieth of the jobs")
            began, before, sink = time.monotonic(), running.recorded(), options.sink.process.cpu()
            while (done := running.recorded()) < count and time.monotonic() - began < LONGEST_DRAIN:
                time.sleep(0.05)
            seconds = time.monotonic() - began
    return Turn((done - before) / seconds, _busy((options.sink.process.cpu() - sink) / seconds))


def _busy(share: float) -> str:
    return f"the sink used {share:.0%} of a core" if share > BUSIEST_SINK else ""


# Latencies


def _our_first_byte(options: Options) -> Turn:
    webhooks = _webhooks(options, "instant", 20)
    run = published(options, webhooks, _warm(options, webhooks), RATE, _seconds(options))
    return Turn(run.at(0.95), _slow(run))


def _their_first_byte(options: Options, peer: Peer) -> Turn:
    with _peering(options, peer, "instant", 20) as running:
        run = _published(options, running)
    return Turn(run.at(0.95), _slow(run))


def _our_healthy(options: Options) -> Turn:
    webhooks = _webhooks(options, "hang", 100)
    run = published(options, webhooks, _warm(options, webhooks), RATE, _seconds(options), plainly=True)
    return Turn(run.at(0.99), _slow(run))


@contextmanager
def _warm(options: Options, webhooks: Sequence[Webhook]) -> Iterator[Dispatchers]:
    """Ours, as warm as a peer after `warm_up`."""
    with dispatching(options.folder) as running:
        shops.add_due(webhooks[:1], 1)
        shops.wait_until_sent(PATIENCE)
        time.sleep(WARM)
        yield running


def _their_healthy(options: Options, peer: Peer) -> Turn:
    with _peering(options, peer, "hang", 100) as running:
        run = _published(options, running)
    return Turn(run.at(0.99), _slow(run))


def _published(options: Options, running: Peering) -> Latencies:
    """Those of the endpoints that don't hang, which have the even numbers. A request that has not come counts with the time it has waited."""
    with running.working():
        running.warm_up()
        events = running.publish(RATE, _seconds(options))
        time.sleep(SETTLE)
        arrived, ended = first_arrivals(options), time.monotonic()
    healthy = [(arrived.get(job), at) for job, endpoint, at in events if endpoint % 2 == 0]
    return Latencies(
        [(ended if came is None else came) - at for came, at in healthy],
        sum(came is None for came, _ in healthy),
        pace_of([at for _, _, at in events]),
    )


def _seconds(options: Options) -> float:
    return 4 if options.quick else 15


def _slow(run: Latencies) -> str:
    return f"only {run.pace:.0f} events/s could be published" if run.pace < RATE * SLOWEST_PACE else ""


# SIGKILL


def _our_losses(options: Options) -> Turn:
    shops.forget_deliveries()
    webhooks = _webhooks(options, "wait/1000", 20)
    with dispatching(options.folder) as dispatchers:
        options.sink.arrivals()
        shops.add_due(webhooks, IN_FLIGHT)
        arrived = _under_way(options)
        dispatchers.kill()
    wanted = {str(delivery) for delivery in Delivery.objects.values_list("id", flat=True)}
    with dispatching(options.folder) as dispatchers:
        lost = _lost(options, wanted, arrived)
        dispatchers.kill()
    return Turn(lost)


def _their_losses(options: Options, peer: Peer) -> Turn:
    with _peering(options, peer, "wait/1000", 20) as running:
        with running.working():
            running.warm_up()
            options.sink.arrivals()
            wanted = set(running.add(IN_FLIGHT))
            arrived = _under_way(options)
            running.kill()
        with running.working():
            return Turn(_lost(options, wanted, arrived))


def _under_way(options: Options) -> set[str]:
    """Return soon after a request has arrived. The IDs of all that have."""
    arrived: set[str] = set()

    def any_arrived() -> bool:
        arrived.update(first_arrivals(options))
        return bool(arrived)

    wait_for(any_arrived, PATIENCE, "the first request", pause=0.01)
    time.sleep(INTO_IT)
    return arrived


def _lost(options: Options, wanted: set[str], arrived: set[str]) -> int:
    """How many of those wanted don't arrive, however long after the restart."""
    end = time.monotonic() + LATEST  # also if `quick`: some come back after a minute
    while not wanted <= arrived and time.monotonic() < end:
        time.sleep(0.2)
        arrived.update(first_arrivals(options))
    return len(wanted - arrived)


# Endpoints


def _webhooks(options: Options, behaviour: str, count: int) -> list[Webhook]:
    """Of those that hang, every other one does, from the second on."""
    return shops.endpoints(
        [
            options.sink.url(f"{'instant' if behaviour == 'hang' and n % 2 == 0 else behaviour}/{n}")
            for n in range(count)
        ]
    )


def _peering(options: Options, peer: Peer, behaviour: str, count: int) -> AbstractContextManager[Peering]:
    targets = [shops.target(webhook) for webhook in _webhooks(options, behaviour, count)]
    return peering(options.folder, peer, targets, f"{os.environ['BENCHMARK_NAME']}_{next(_numbers)}")


MEASURES: Final = (
    Measure("deliveries/s, 20 instant endpoints", _our_rate, _their_rate, lambda rate: f"{number(rate)}/s"),
    Measure("healthy p99, half of 100 endpoints hanging", _our_healthy, _their_healthy, milliseconds),
    Measure("commit to first byte, p95", _our_first_byte, _their_first_byte, milliseconds),
    Measure(
        f"lost after SIGKILL with {IN_FLIGHT:,} in flight",
        _our_losses,
        _their_losses,
        lambda lost: f"{lost:.0f}",
        as_ratio=False,
    ),
)


def _row(measure: Measure, peer: Peer, result: Result) -> Row:
    what = f"{peer.title}: {measure.what}" + (", to ours" if measure.as_ratio else "")
    if result.failure:
        return Row(what, "", "", reached="failed", note=result.failure)
    theirs, ours = measure.of_all(result.theirs), measure.of_all(result.ours)
    figure = result.ratio() if measure.as_ratio else theirs
    note = peer.returns if not measure.as_ratio and theirs else ""
    return Row(what, measure.words(theirs), measure.words(ours), figure, doubt=result.doubts(), note=note)


def _table(measures: Sequence[Measure], results: dict[str, dict[Peer, Result]]) -> str:
    columns = [results[measure.what] for measure in measures]
    rows = [["", "durable", *(measure.what for measure in measures)], ["---"] * (2 + len(measures))]
    rows.append(["this platform", "yes", *map(_our_cell, measures, columns)])
    for peer in columns[0]:
        cells = [_cell(measure, column[peer]) for measure, column in zip(measures, columns, strict=True)]
        rows.append([peer.title, "yes" if peer.durable else "no", *cells])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _our_cell(measure: Measure, columns: dict[Peer, Result]) -> str:
    turns = max((result.ours for result in columns.values()), key=len)
    if not turns:
        return "–"
    figure = measure.words(measure.of_all(turns))
    return f"1 ({figure})" if measure.as_ratio else figure


def _cell(measure: Measure, result: Result) -> str:
    if result.failure:
        return "failed"
    if not measure.as_ratio:
        return measure.words(measure.of_all(result.theirs))
    return number(result.ratio()) + (" (invalid)" if result.doubts() else "")
