"""`python -m benchmarks pairs`: two trees by turns."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from benchmarks.environment import ROOT
from benchmarks.pairs import interval_of_median


@pytest.mark.parametrize(
    ("count", "interval"),
    # By tables of the binomial distribution with one half: 2 · (1 + 10) / 1024 is 0.02 for ten, and 2 · (1 + 10 + 45) / 1024 is 0.11.
    [(2, None), (5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (12, (3, 10)), (20, (6, 15))],
)
def test_interval_of_the_median(count: int, interval: tuple[int, int] | None) -> None:
    assert interval_of_median([float(number) for number in range(count, 0, -1)]) == interval


@pytest.mark.slow
@pytest.mark.timeout(1000)
@pytest.mark.postgres
@pytest.mark.redis
def test_this_tree_costs_what_it_costs(tmp_path: Path) -> None:
    """The same sources twice. Both have databases of their own, which are gone afterwards."""
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks",
            "pairs",
            "--before",
            "HEAD",
            "--pairs",
            "6",
            "--quick",
            "fan-out",
        ],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stderr
    rows = [line.split("|") for line in run.stdout.splitlines()[2:]]
    assert [row[1].strip() for row in rows] == [
        "fan-out: an event for 1,000 webhooks, CPU to before",
        "fan-out: an event for one webhook, CPU to before",
    ]
    assert all(0.5 < float(row[4]) < 2 for row in rows), run.stdout
    assert run.stderr.count("6 pairs: ") == 2
    assert list(tmp_path.iterdir()) == []
    with psycopg.connect(os.environ["DATABASE_URL"]) as session:
        names = session.execute(
            "SELECT datname FROM pg_stat_activity WHERE application_name IN ('before', 'after')"
        )
        assert names.fetchall() == []


def test_unknown_names_and_commits_are_refused() -> None:
    for arguments, said in (
        (
            ["--before", "HEAD", "merchant"],
            "There are no pairs of merchant; there are drain, fan-out, app-api.",
        ),
        (["--before", "no-such-commit", "drain"], "no-such-commit is no commit of this repository."),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks", "pairs", *arguments],
            cwd=ROOT, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert (run.returncode, run.stderr.strip()) == (1, said)
