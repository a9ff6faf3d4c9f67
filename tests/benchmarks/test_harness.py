import time
from math import inf
from pathlib import Path

import pytest

from benchmarks.dispatchers import quantile
from benchmarks.loop import looped
from benchmarks.processes import Failed, started
from benchmarks.results import Goal, Row, paired, percentile
from benchmarks.sink import sink
from benchmarks.targets import Target

pytestmark = pytest.mark.slow  # processes of their own

SECRET = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="


def test_loop_sends_exactly_what_it_says_it_sent(tmp_path: Path) -> None:
    with sink(tmp_path) as receiver:
        targets = [Target(receiver.url(f"instant/{n}"), SECRET, {}, "{}") for n in range(3)]
        before = time.monotonic()
        result = looped(tmp_path, targets, 600)
        took = time.monotonic() - before
        warm_up = 2 * 32 * 4
        arrived = receiver.arrivals()

    assert result.sent == 600
    assert len(arrived) == 600 + warm_up
    assert len({delivery_id for delivery_id, _ in arrived}) == 600 + warm_up
    assert 0 < result.seconds < took
    measured = sorted(at for _, at in arrived)[warm_up:]
    assert measured[-1] - measured[0] <= result.seconds
    assert result.cpu > 0


def test_loop_fails_where_the_sink_is_gone(tmp_path: Path) -> None:
    with sink(tmp_path) as receiver:
        gone = Target(receiver.url("instant/0"), SECRET, {}, "{}")

    with pytest.raises(Failed, match="loop-0 ended"):
        looped(tmp_path, [gone], 10)


def test_cpu_of_a_process_counts_all_its_threads_and_no_sleep(tmp_path: Path) -> None:
    burn = (
        "import json, sys, threading, time\n"
        "def burn():\n"
        "    while time.thread_time() < 0.3: pass\n"
        "threads = [threading.Thread(target=burn) for _ in range(2)]\n"
        "before = time.process_time()\n"
        "[each.start() for each in threads]; [each.join() for each in threads]; time.sleep(0.3)\n"
        "print(json.dumps(time.process_time()), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with started(tmp_path, "burner", "-c", burn) as process:
        used = process.hear()
        assert used >= 0.6
        assert process.cpu() == pytest.approx(used, abs=0.05)


def test_memory_peak_is_seen_after_it_was_given_back(tmp_path: Path) -> None:
    take = (
        "import sys\n"
        "print(0, flush=True); sys.stdin.readline()\n"
        "taken = b'x' * 50_000_000; del taken\n"
        "print(1, flush=True); sys.stdin.readline()\n"
    )
    with started(tmp_path, "taker", "-c", take) as process:
        process.hear()
        process.reset_peak()
        before = process.resident()
        process.tell("go")
        process.hear()

        assert 45 < process.resident("VmHWM") - before < 60
        assert process.resident() - before < 10


def test_started_process_is_ended_when_the_run_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), started(tmp_path, "idle", "-c", "input()") as process:
        raise KeyboardInterrupt

    assert not process.alive()


def test_failure_quotes_the_log_of_the_process(tmp_path: Path) -> None:
    broken = "raise SystemExit('out of milk')"
    with (
        started(tmp_path, "broken", "-c", broken) as process,
        pytest.raises(Failed, match="out of milk"),
    ):
        process.hear()


@pytest.mark.parametrize(("share", "value"), [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)])
def test_percentile_is_a_value_that_was_measured(share: float, value: int) -> None:
    assert percentile(list(range(100, 0, -1)), share) == value


def test_percentile_of_one_value_is_that_value() -> None:
    assert percentile([7.0], 0.99) == 7.0


@pytest.mark.parametrize(("share", "value"), [(0.25, 0.5), (0.5, 1.0), (0.7, 2.0), (0.9, 3.0), (1.0, 3.0)])
def test_quantile_lies_on_a_line_within_its_bucket(share: float, value: float) -> None:
    assert quantile({1.0: 50, 2.0: 70, 3.0: 90, inf: 100}, share) == pytest.approx(value)


def test_ratio_is_taken_between_runs_that_followed_each_other() -> None:
    assert paired([10, 200, 30], [10, 100, 10]) == 2


@pytest.mark.parametrize(
    ("figure", "verdict"), [(1.3, "MISSED"), (1.2, "at least"), (1.06, "at least"), (1.05, "better")]
)
def test_goal_tells_which_of_its_figures_is_reached(figure: float, verdict: str) -> None:
    assert Goal(1.2, 1.05).verdict(figure) == verdict


def test_goal_of_more_is_reached_from_below() -> None:
    goal = Goal(0.8, 1.2, more_is_better=True)

    assert [goal.verdict(figure) for figure in (0.7, 0.8, 1.3)] == ["MISSED", "at least", "better"]


def test_doubtful_figure_reaches_no_goal() -> None:
    row = Row("x", "", "", 2.0, Goal(0.8, 1.2, more_is_better=True), doubt="the sink used 90% of a core")

    assert row.verdict().startswith("invalid")
