"""What surrounds the peers. The peers themselves need packages that this project doesn't: `make bench ARGS="--quick peers"`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import BENCHMARKS, wanted
from benchmarks.options import Options
from benchmarks.peers import catalog, comparison
from benchmarks.peers.catalog import PEERS, Peer
from benchmarks.peers.comparison import Measure, Turn
from benchmarks.processes import Failed
from benchmarks.results import Row
from benchmarks.sink import sink

FAST, SLOW = (Peer(name, (), name, durable=name == "fast") for name in ("fast", "slow"))
BROKEN = Peer("broken", (), "broken", durable=False)


def test_what_others_made_runs_only_when_named() -> None:
    assert set(wanted([])) == set(BENCHMARKS) - {"jobs", "oscar", "peers"}
    assert wanted(["peers"]) == ["peers"]


def test_each_package_of_a_peer_has_one_version() -> None:
    for peer in PEERS:
        separator = "@" if peer.javascript else "=="
        assert all(len(package.rsplit(separator)) == 2 for package in peer.packages), peer.name
        assert peer.version[0].isdigit()


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Options]:
    """With environments for two peers, and no place for that of the third."""
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    for peer in (FAST, SLOW):
        peer.folder.mkdir()
        (peer.folder / "installed").write_text("")
    BROKEN.folder.write_text("a file")
    with sink(tmp_path) as receiver:
        yield Options(tmp_path, receiver, quick=False, full=False)


def measure(*, as_ratio: bool = True, **theirs: Any) -> Measure:
    """Ours makes 100, 200 and 400 in its three turns."""
    ours = iter([100.0, 200.0, 400.0])

    def take_turn(options: Options, peer: Peer) -> Turn:
        turns: Iterator[Any] = theirs[peer.name]
        figure = next(turns)
        if isinstance(figure, Exception):
            raise figure
        return Turn(figure)

    return Measure(
        "deliveries/s", lambda options: Turn(next(ours)), take_turn, lambda rate: f"{rate:.0f}/s", as_ratio
    )


@pytest.mark.slow
@pytest.mark.timed
def test_peer_is_compared_with_our_turn_of_the_same_round(options: Options) -> None:
    (row,) = comparison.compared(options, [FAST], [measure(fast=iter([50.0, 90.0, 300.0]))])

    assert (row.figure, row.baseline, row.ours) == (0.5, "90/s", "200/s")


@pytest.mark.slow
@pytest.mark.timed
def test_worst_turn_counts_where_there_is_no_ratio(options: Options) -> None:
    losses = measure(as_ratio=False, fast=iter([0.0, 300.0, 7.0]))
    (row,) = comparison.compared(options, [FAST], [losses])

    assert (row.figure, row.baseline, row.ours) == (300.0, "300/s", "400/s")


@pytest.mark.slow
@pytest.mark.timed
def test_peer_that_fails_is_a_row_and_the_others_go_on(
    options: Options, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = iter([10.0, Failed("out of milk"), 30.0])
    rates = measure(fast=iter([50.0, 100.0, 200.0]), slow=slow)
    rows: dict[str, Row] = {
        row.what.split(":")[0]: row for row in comparison.compared(options, [BROKEN, SLOW, FAST], [rates])
    }

    assert rows["fast"].figure == 0.5
    assert (rows["slow"].verdict(), rows["slow"].note) == ("failed", "out of milk")
    assert next(slow) == 30.0  # it is not asked again
    assert rows["broken"].verdict() == "failed"
    assert str(BROKEN.folder) in rows["broken"].note
    table = (catalog.FOLDER / "table.md").read_text()
    assert table in capsys.readouterr().out
    assert table.splitlines() == [
        "|  | durable | deliveries/s |",
        "| --- | --- | --- |",
        "| this platform | yes | 1 (200/s) |",
        "| broken | no | failed |",
        "| slow | no | failed |",
        "| fast | yes | 0.5 |",
    ]
