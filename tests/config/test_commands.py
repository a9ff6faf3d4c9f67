"""The three commands of an installation, as processes: `manage.py serve`, `work` and `schedule`."""

import json
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import requests
from celery.worker import state

from accounts.models import Business
from common.observability.exposition import NAME
from config import heartbeat
from config.env.reading import cores
from config.management.commands.work import OPEN_FILES
from installations.models import Installation
from tests.config.commands import children, production, run
from tests.faults.processes import ROOT, Processes, database_url
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish, wait_until
from webhooks.models import Attempt

TOKEN = "".join(map(chr, range(60, 110)))
WEB_THREADS = 8
OF_PROCESSES = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.timed]


@pytest.fixture
def processes(transactional_db: None, tmp_path: Path) -> Iterator[Processes]:
    started = Processes(tmp_path)
    yield started
    started.end()


def mark_all(test: object) -> object:
    for mark in OF_PROCESSES:
        test = mark(test)
    return test


@mark_all
def test_web_processes_add_up_their_metrics_and_are_replaced_without_a_failed_request(
    processes: Processes, tmp_path: Path
) -> None:
    port = free_port()
    settings = {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "2", "METRICS_TOKEN": TOKEN}
    settings["PROMETHEUS_MULTIPROC_DIR"] = str(tmp_path / "metrics")
    web = processes.start("manage.py", "serve", **settings)
    wait_until(lambda: answers(port), timeout=90)
    first = children(web)
    assert len(first) == 2
    for _ in range(30):
        assert answers(port)
    counted = answered(port)
    assert counted >= 30
    assert answered(port) == counted + 1, "Each process reports the sum, whichever a scrape reaches."
    shown = scraped(port)
    assert shown["threads"] == 2 * WEB_THREADS
    assert shown["memory_bytes"] > 2 * 30_000_000
    assert "deliveries_due" not in shown, "The scheduler shows what all have in common."

    web.signal_first(signal.SIGHUP)

    def are_replaced() -> bool:
        assert answers(port), "A request failed while the processes were replaced; it may wait."
        return len(children(web) - first) >= 2 and not first & children(web)

    wait_until(are_replaced, timeout=90)
    assert answered(port) > counted, "Counts of processes that ended are kept."
    left = {file.stem for file in (tmp_path / "metrics").iterdir()}
    kinds, living = ("counter", "histogram"), children(web)
    assert "counter_ended" in left
    assert left <= {f"{kind}_{of}" for kind in kinds for of in ("ended", *living)} | {
        f"gauge_livesum_{of}" for of in living
    }
    wait_until(lambda: scraped(port)["threads"] == 2 * WEB_THREADS)  # those of processes that ended are gone
    web.signal_first(signal.SIGTERM)
    assert web.wait_for_death() == 0


@mark_all
def test_web_processes_outlive_a_full_disk_under_their_metrics(processes: Processes) -> None:
    """In a mount namespace, where memory as a file system has one page."""
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("makes a mount namespace, which isn't allowed here")
    port = free_port()
    full = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=4k none /dev/shm && exec "$@"', "sh")
    settings = {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1", "METRICS_TOKEN": TOKEN}
    web = processes.start("manage.py", "serve", prefix=full, **settings)
    wait_until(lambda: answers(port), timeout=90)
    first = children(web)
    assert all(answers(port) for _ in range(30))
    assert answered(port) == 0, "Its counts are in its own memory."
    assert children(web) == first


@mark_all
@pytest.mark.spec("Contract 15 Doors", "A request line of 8,000 octets is read")
def test_long_request_line_is_read(processes: Processes) -> None:
    port = free_port()
    processes.start("manage.py", "serve", BIND=f"127.0.0.1:{port}", WEB_PROCESSES="1")
    wait_until(lambda: answers(port), timeout=90)
    path = "/healthz?x=" + "x" * (8000 - len("GET /healthz?x= HTTP/1.1"))
    assert requests.get(f"http://127.0.0.1:{port}{path}", timeout=60).status_code == 200


@mark_all
def test_web_processes_are_replaced_by_those_of_the_same_release(
    processes: Processes, tmp_path: Path
) -> None:
    """Started in a folder behind a link, which leads to another release later."""
    link, broken = tmp_path / "current", tmp_path / "broken"
    link.symlink_to(ROOT)
    (broken / "config").mkdir(parents=True)
    (broken / "config/wsgi.py").write_text("raise ImportError")
    port = free_port()
    shell = ("env", "-C", str(link), f"PWD={link}")
    settings = {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1"}
    web = processes.start("manage.py", "serve", prefix=shell, **settings)
    wait_until(lambda: answers(port), timeout=90)
    first = children(web)
    link.unlink()
    link.symlink_to(broken)
    web.signal_first(signal.SIGHUP)

    def are_replaced() -> bool:
        assert web.is_alive, web.output
        return not first & children(web) and answers(port)

    wait_until(are_replaced, timeout=90)


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/healthz", timeout=60).ok
    except requests.RequestException:
        return False


def answered(port: int) -> int:
    """How many requests the metrics count for `/healthz`."""
    found = scraped(port).items()
    return sum(round(each) for name, each in found if name.startswith("http_answers_total") and "2xx" in name)


def scraped(port: int, token: str = TOKEN) -> dict[str, float]:
    """The platform's samples, without the beginning of their names. Empty where there are none for this token."""
    headers = {"Authorization": f"Bearer {token}"}
    lines = requests.get(f"http://127.0.0.1:{port}/metrics", headers=headers, timeout=30).text.splitlines()
    ours = (line.removeprefix(f"{NAME}_").rpartition(" ") for line in lines if line.startswith(f"{NAME}_"))
    return {name: float(number) for name, _, number in ours}


@mark_all
@pytest.mark.postgres
@pytest.mark.redis
def test_worker_and_scheduler_deliver_and_show_that_they_are_alive(
    processes: Processes, tmp_path: Path, installation: Installation, sandbox: Business
) -> None:
    broker = os.environ["REDIS_URL"]
    processes.use(REDIS_URL=broker, CELERY_BROKER_URL=broker)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as many systems begin with
    files = {name: tmp_path / f"{name}.alive" for name in ("work", "schedule")}
    ports = {name: free_port() for name in files}
    worker, scheduler = (
        started(HEARTBEAT_FILE=str(files[name]), METRICS_BIND=f"127.0.0.1:{ports[name]}", METRICS_TOKEN=TOKEN)
        for name, started in (("work", processes.worker), ("schedule", processes.beat))
    )
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with Receiver() as receiver:
        helpers.webhook(installation, receiver.url, ["order.created"])
        publish(sandbox)
        receiver.wait_for(1, timeout=90)
        assert resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)[0] == min(OPEN_FILES, hard)
        at_work, shared = scraped(ports["work"]), scraped(ports["schedule"])
        assert at_work["threads"] == 4
        assert at_work["threads_busy"] >= 1
        assert at_work["task_wait_seconds_count"] >= 1
        assert shared["dispatchers"] >= 1
        assert "dispatchers" not in at_work, "The scheduler shows what all have in common."
        assert scraped(ports["schedule"], "another") == {}
        for file in files.values():
            wait_until(lambda file=file: age(file) < 1, timeout=10)  # type: ignore[misc]
        for process in (worker, scheduler):
            process.signal(signal.SIGSTOP)
        time.sleep(4)
        assert all(age(file) > 3 for file in files.values())
        for process in (worker, scheduler):
            process.signal(signal.SIGCONT)
            process.signal_first(signal.SIGTERM)
            assert process.wait_for_death() == 0


@mark_all
@pytest.mark.postgres
@pytest.mark.redis
def test_without_debug_every_line_is_json(
    processes: Processes, tmp_path: Path, installation: Installation, sandbox: Business, settings: Any
) -> None:
    assert run(tmp_path, "manage.py", "collectstatic", "--noinput").returncode == 0
    redis, port = os.environ["REDIS_URL"], free_port()
    processes.use(**production(tmp_path) | {"DATABASE_URL": database_url(), "REDIS_URL": redis})
    processes.use(
        DEBUG="0",
        ALLOWED_HOSTS="127.0.0.1",
        ALLOW_LOCAL_DESTINATIONS="0",
        CELERY_BROKER_URL=redis,
        SECURITY_CONTACT="",
    )
    processes.use(FIELD_ENCRYPTION_KEYS=",".join(settings.FIELD_ENCRYPTION_KEYS))
    web = processes.start("manage.py", "serve", BIND=f"127.0.0.1:{port}", WEB_PROCESSES="1")
    worker, scheduler = processes.worker(), processes.beat()
    crashed = processes.start("manage.py", "schedule", "--state", str(tmp_path / "missing" / "schedule"))
    helpers.webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    publish(sandbox)
    wait_until(lambda: Attempt.objects.exists(), timeout=90)
    wait_until(lambda: answers(port), timeout=90)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"NONSENSE\r\n\r\n")
        assert b" 400 " in connection.recv(1000)
    for process in (web, worker, scheduler):
        process.signal_first(signal.SIGTERM)
        assert process.wait_for_death() == 0
    assert crashed.wait_for_death() == 1

    texts = {}
    for process in (web, worker, scheduler, crashed):
        lines = [json.loads(line) for line in process.output.splitlines()]
        assert all({"timestamp", "level", "logger", "message", "request_id"} <= line.keys() for line in lines)
        assert any("config.W005" in line["message"] for line in lines), "What Django's checks warn of."
        texts[process] = [line["message"] for line in lines]
    assert any("Invalid request" in text for text in texts[web])
    assert "The worker is ready." in texts[worker]
    assert "The worker has stopped." in texts[worker]
    assert "The scheduler is ready." in texts[scheduler]
    assert texts[crashed][-1] == "MainThread crashed."
    assert "FileNotFoundError" in lines[-1]["exc_info"]


@pytest.mark.long
def test_worker_may_open_a_file_for_each_connection(tmp_path: Path) -> None:
    """In a process of its own, begun with the limit of many systems."""
    code = """
import os
import resource

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()
from config.management.commands.work import OPEN_FILES, allow_open_files

_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
for limit, expected in ((OPEN_FILES, OPEN_FILES), (2000, 2000), (1024, 1024)):
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, limit))
    allow_open_files(OPEN_FILES)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (expected, limit)
"""
    ended = run(tmp_path, "-c", code)
    assert ended.returncode == 0, ended.stderr


def age(file: Path) -> float:
    """Seconds since its last heartbeat."""
    return time.time() - file.stat().st_mtime if file.exists() else float("inf")


@pytest.mark.long
def test_heartbeat_means_that_a_worker_can_work(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "alive"
    settings.HEARTBEAT_FILE, settings.WORKER_THREADS = str(file), 2
    monkeypatch.setattr(heartbeat, "EVERY", 0.01)
    monkeypatch.setattr(heartbeat, "STUCK_AFTER", 0.1)
    consumer = Mock()
    step = heartbeat.WorkerHeartbeat(consumer)
    time.sleep(0.1)
    assert not file.exists(), "It has found no broker yet."
    step.start(consumer)
    wait_until(file.exists)
    time.sleep(0.2)  # the timer, a mock, never calls
    assert not beats(file), "The loop is stuck."
    step.stop(consumer)
    assert beats(file), "The broker is lost, and dispatchers continue."

    monkeypatch.setattr(heartbeat, "STUCK_AFTER", 60)
    monkeypatch.setattr(heartbeat, "TASKS_STUCK_AFTER", 0.1)
    step.start(consumer)
    tasks = [Mock(id="dispatch"), Mock(id="audit")]
    monkeypatch.setattr(state, "active_requests", tasks[:1])
    assert beats(file), "A thread is free."
    monkeypatch.setattr(state, "active_requests", tasks)
    time.sleep(0.2)
    assert not beats(file), "All threads have had the same tasks for too long."
    monkeypatch.setattr(state, "active_requests", [tasks[0], Mock(id="another")])
    assert beats(file)
    step.stop(consumer)


def beats(file: Path) -> bool:
    """Whether a heartbeat comes within the time of some."""
    before = file.stat().st_mtime_ns
    time.sleep(0.08)
    return file.stat().st_mtime_ns > before


@pytest.mark.slow  # a process of its own
def test_serve_without_collected_files_says_what_to_run(tmp_path: Path) -> None:
    refused = run(tmp_path, "manage.py", "serve")
    assert refused.returncode == 1
    assert "Run `manage.py collectstatic` first." in refused.stderr


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("command", ["work", "deliver"])
def test_dispatchers_are_refused_behind_a_pooler_of_transactions(tmp_path: Path, command: str) -> None:
    refused = run(tmp_path, "manage.py", command, DATABASE_POOLER="transaction")
    assert refused.returncode == 1
    assert "connect to PostgreSQL directly" in refused.stderr


@pytest.mark.slow  # a process of its own
@pytest.mark.parametrize("command", ["serve", "work", "schedule", "deliver"])
def test_database_without_the_migrations_is_refused(tmp_path: Path, command: str) -> None:
    refused = run(tmp_path, "manage.py", command, DEBUG="1", DATABASE_URL=f"sqlite:///{tmp_path}/new.sqlite3")
    assert refused.returncode == 1
    assert "Run `manage.py migrate` first." in refused.stderr
    assert "Traceback" not in refused.stderr


@mark_all
@pytest.mark.parametrize("command", ["serve", "work", "deliver"])
def test_start_without_the_key_of_what_is_stored_is_refused(
    tmp_path: Path, command: str, installation: Installation
) -> None:
    refused = run(tmp_path, "manage.py", command, DEBUG="1", DATABASE_URL=database_url())  # with a new key
    assert refused.returncode == 1
    assert "encrypted with a key that is missing from FIELD_ENCRYPTION_KEYS" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow  # a process of its own
def test_database_that_is_away_refuses_no_start(tmp_path: Path) -> None:
    """It may come back, and until then every answer is a 503."""
    code = (
        "import django; django.setup(); from common.db.schema import require_migrations; require_migrations(); "
        "from webhooks.management.startup import require_keys; require_keys()"
    )
    ended = run(tmp_path, "-c", code)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.long
@pytest.mark.parametrize(("variable", "value"), [("WEB_PROCESSES", "0"), ("WORKER_THREADS", "1")])
def test_too_few_of_a_kind_are_refused(tmp_path: Path, variable: str, value: str) -> None:
    refused = run(tmp_path, "-c", "import config.wsgi", **{variable: value})
    assert f"{variable} must be at least" in refused.stderr


@pytest.mark.parametrize(
    ("limit", "expected"), [("50000 100000", 1), ("100000 100000", 1), ("max 100000", cores(Path("/none")))]
)
def test_cores_are_those_of_the_container(tmp_path: Path, limit: str, expected: int) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(limit)
    assert cores(file) == expected
