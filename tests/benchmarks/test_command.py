import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from benchmarks import environment

pytestmark = pytest.mark.slow  # processes of their own

NOWHERE = "127.0.0.1:9"


@dataclass(frozen=True)
class Run:
    pid: int
    returncode: int
    stdout: str
    stderr: str


def benchmarks(*arguments: str, **variables: str) -> Run:
    inherited = {name: value for name, value in os.environ.items() if name not in environment.DEFAULTS}
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=environment.ROOT,
        env=inherited | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=280)
    finally:
        process.terminate()
    return Run(process.pid, process.returncode, stdout, stderr)


def test_benchmarks_without_redis_say_what_is_missing() -> None:
    run = benchmarks("fan-out", REDIS_URL=f"redis://{NOWHERE}/0", DATABASE_URL=f"postgres://{NOWHERE}/x")

    assert run.returncode == 1
    assert "The benchmarks need PostgreSQL and Redis. Redis can't be reached (REDIS_URL)" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.redis
def test_benchmarks_without_postgres_say_what_is_missing() -> None:
    run = benchmarks(
        "fan-out", REDIS_URL=os.environ["REDIS_URL"], DATABASE_URL=f"postgres://postgres@{NOWHERE}/x"
    )

    assert run.returncode == 1
    assert "PostgreSQL can't be reached (DATABASE_URL)" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.redis
def test_benchmarks_do_not_measure_sqlite(tmp_path: Path) -> None:
    run = benchmarks("fan-out", REDIS_URL=os.environ["REDIS_URL"], DATABASE_URL=f"sqlite:///{tmp_path / 'x'}")

    assert run.returncode == 1
    assert "must be a postgres:// URL" in run.stderr


@pytest.mark.postgres
@pytest.mark.redis
def test_unknown_benchmark_is_refused_before_anything_is_made() -> None:
    run = benchmarks("fanout", **services())

    assert run.returncode == 1
    assert "There is no benchmark fanout" in run.stderr
    assert "Migrating" not in run.stderr


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.benchmark
def test_quick_drain_and_fan_out_measure_every_row_and_leave_no_database() -> None:
    run = benchmarks("--quick", "drain", "fan-out", **services())

    assert run.returncode == 0, run.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines()[2:]]
    assert len(rows) == 8
    assert all(float(row[3].split()[0].replace(",", "")) > 0 for row in rows)
    statements = next(row for row in rows if row[0].startswith("SQL statements per delivery"))
    assert statements[2].endswith("/ 2,000")
    assert f"benchmark_{run.pid}" not in databases()


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.benchmark
def test_quick_benchmarks_of_the_app_api_measure_every_row() -> None:
    run = benchmarks("--quick", "product-list", "product-list-size", "app-api", **services())

    assert run.returncode == 0, run.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines()[2:]]
    assert len(rows) == 10
    assert all(float(row[3].split()[0].replace(",", "")) > 0 for row in rows)
    assert f"benchmark_{run.pid}" not in databases()


@pytest.mark.postgres
@pytest.mark.redis
@pytest.mark.benchmark
def test_quick_storefront_holds_every_page_to_a_stock_page_of_the_same_run() -> None:
    run = benchmarks("--quick", "storefront", **services())

    assert run.returncode == 0, run.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines()[2:]]
    assert len(rows) == 11, "Eight pages, the slowest, p95 and p99."
    assert all(float(row[3].replace(",", "")) > 0 for row in rows)
    assert run.stderr.count("% of it") == 8, "Each page says the share of rendering."
    assert not {name for name in databases() if name.endswith(str(run.pid))}


def services() -> dict[str, str]:
    """The test run's own, whose database the benchmarks leave alone."""
    return {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")}


def databases() -> set[str]:
    with psycopg.connect(os.environ["DATABASE_URL"].rpartition("/")[0] + "/postgres") as server:
        return {name for (name,) in server.execute("SELECT datname FROM pg_database")}
