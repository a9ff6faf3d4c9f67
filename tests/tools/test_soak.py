"""The soak: how a run begins and ends, and what it reads of the database. Its figures are in `test_soak_figures`."""

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import requests
from django.db import connection
from django.utils import timezone

from installations.models import Installation
from installations.services.lifecycle import uninstall
from stores.models import Order
from stores.services.checkout import place_order
from tests import factories
from tests.faults.servers import skipped_if_missing
from tests.webhooks import helpers
from tools.servers import Missing, Postgres
from tools.soak import __main__ as command
from tools.soak import course
from tools.soak import site as site_module
from tools.soak.__main__ import judge
from tools.soak.faults import AT_LEAST_ONCE, ONCE, Faults, shortest
from tools.soak.figures import Finding
from tools.soak.people import png, shows
from tools.soak.receiver import LATE_BY, Receiver
from tools.soak.run import Database
from tools.soak.site import LOG_OF_POSTGRES, Member, Site
from tools.soak.unprotected import broken_sources, groups
from webhooks.models import Delivery


@pytest.fixture
def order(installation: Installation) -> Order:
    """Dana's app has a delivery of it waiting."""
    helpers.webhook(installation, "https://app.example.com/", ["order.created"])
    bread = factories.product(installation.business)
    return place_order(business=installation.business, request=factories.order_request((bread, 1)))


def cancelled() -> set[tuple[str, str]]:
    """The events and their keys that the verdict takes for cancelled by an uninstall."""
    found = Database.read(connection.connection, []).cancelled
    return {(event, key) for _, event, key in found}


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_whose_delivery_the_uninstall_cancelled_is_known(
    order: Order, installation: Installation
) -> None:
    uninstall(installation=installation)
    assert cancelled() == {("order.created", str(order.pk))}


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_that_was_cancelled_before_the_uninstall_is_not_excused(
    order: Order, installation: Installation
) -> None:
    Delivery.objects.update(status="CANCELLED", due_at=None, finished_at=timezone.now())
    uninstall(installation=installation)
    assert cancelled() == set()


# The load


@pytest.mark.long
@pytest.mark.timed
def test_apps_answer_a_share_of_what_they_receive_late() -> None:
    """A request that was received counts at once, even if the sender dies before it gets the answer."""
    head = {
        f"X-{name}": "1"
        for name in (
            "Service-Event-Id",
            "Webhook-Id",
            "Webhook-Business-Id",
            "Webhook-Event",
            "Webhook-Timestamp",
        )
    } | {"X-Webhook-Signature": "1"}
    late = 0
    with Receiver(random.Random(1)) as receiver, requests.Session() as session:
        for _ in range(8):
            began = monotonic()
            with suppress(requests.ConnectionError):  # it hangs up on some
                session.post(f"{receiver.url}/app/0", data=b"{}", headers=head, timeout=10)
            if monotonic() - began > LATE_BY[0]:
                late += 1
                assert receiver.arrivals[-1].at - began < LATE_BY[0]
    assert 2 <= late <= 6


def test_picture_that_is_cut_off_or_of_another_color_is_not_what_was_uploaded() -> None:
    content = png((200, 30, 90))
    assert shows(content, (200, 30, 90))
    assert not shows(content[:-40], (200, 30, 90))
    assert not shows(content, (200, 90, 30))


# The log of PostgreSQL


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.postgres
def test_times_in_the_log_of_postgresql_are_utc_in_any_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    with skipped_if_missing():
        server = Postgres()
    with server:
        server.configure(**LOG_OF_POSTGRES)
        (server.directory / "log").unlink()
        server.restart()
        first = (server.directory / "log").read_text().splitlines()[0]
    written = datetime.fromisoformat(first[:23]).replace(tzinfo=UTC)  # as the verdict reads it
    assert abs(written - timezone.now()) < timedelta(minutes=1)


# What fails a run

LOST = Finding("events lost", "1", "order.created")
SLOW = Finding("statements that waited", "1", "a line of the log", by_speed=True)


@pytest.mark.parametrize(
    ("found", "is_slow", "status"),
    [
        ([Finding("requests", "200: 12")], False, 0),
        ([LOST], False, 1),
        ([LOST], True, 1),
        ([SLOW], False, 1),
        ([SLOW], True, 0),
        ([SLOW, LOST], True, 1),
    ],
)
def test_what_a_slow_machine_may_cause_fails_only_where_it_is_not_one(
    found: list[Finding], is_slow: bool, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(found, is_slow=is_slow) == status
    printed = capsys.readouterr().out
    assert all(each.problem in printed for each in found)


# The command


class Stage:
    """Stands in for the site and everything around it, and keeps what the command gives them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn_by_others = 0
        self.during_faults: Callable[[], object] = lambda: None
        self.draws: list[float] = []  # of the faults
        self.options: dict[str, Any] = {}  # of the faults
        self.brokers: list[Any] = []
        self.is_over = False
        self.release: Path | None = Path("release")
        for name in ("Load", "Memory", "Releases", "Run", "wait_until_settled"):
            monkeypatch.setattr(course, name, MagicMock())
        monkeypatch.setattr(course, "Receiver", self._receiver)
        monkeypatch.setattr(course, "Faults", self._faults)
        monkeypatch.setattr(course, "Site", self._site)
        monkeypatch.setattr(command, "RabbitMQ", lambda name: name)
        monkeypatch.setattr(command, "check_out", lambda _: self.release)
        monkeypatch.setattr(command, "ALL", ())

    @contextmanager
    def _receiver(self, chance: random.Random) -> Iterator[MagicMock]:
        for _ in range(self.drawn_by_others):
            chance.random()
        try:
            yield MagicMock()
        finally:
            self.is_over = True

    @contextmanager
    def _site(self, folder: Path, tree: Path, *, rabbitmq: Any, leap_every: float) -> Iterator[MagicMock]:
        self.brokers.append(rabbitmq)
        yield MagicMock()

    def _faults(self, site: Any, receiver: Any, load: Any, chance: random.Random, **options: Any) -> Any:
        self.options = options

        def run(seconds: float) -> None:
            self.draws.append(chance.random())
            self.during_faults()

        return SimpleNamespace(run=run, last=lambda: None)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The signal's handler is put back in the end. Until the command has its own, the signal does nothing."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    yield Stage(monkeypatch)
    signal.signal(signal.SIGTERM, before)


@pytest.mark.long
def test_seed_repeats_the_faults_whatever_the_apps_have_received(stage: Stage) -> None:
    for stage.drawn_by_others in (0, 5):
        assert command.main(["--seed", "1"]) == 0
    assert command.main(["--seed", "2"]) == 0
    assert stage.draws[0] == stage.draws[1] != stage.draws[2]


def test_run_that_is_terminated_ends_what_it_started(stage: Stage) -> None:
    stage.during_faults = lambda: os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(SystemExit, match="Stopped"):
        command.main([])
    assert stage.is_over
    os.kill(os.getpid(), signal.SIGTERM)  # another one doesn't interrupt that


@pytest.mark.long
def test_run_without_a_release_to_upgrade_from_ends_at_once_unless_it_leaves_the_upgrade_out(
    stage: Stage,
) -> None:
    stage.release = None
    with pytest.raises(SystemExit, match="--without-upgrade"):
        command.main([])
    assert stage.draws == []
    assert command.main(["--without-upgrade"]) == 0
    assert stage.options == {"to": None, "restore": True}


@pytest.mark.long
@pytest.mark.parametrize(("seed", "broker"), [(2, None), (3, "RabbitMQ")])
def test_seed_chooses_the_broker(seed: int, broker: str | None, stage: Stage, monkeypatch: Any) -> None:
    monkeypatch.setattr(command, "RabbitMQ", lambda name: "RabbitMQ")
    assert command.main(["--seed", str(seed)]) == 0
    assert stage.brokers == [broker]


@pytest.mark.long
def test_run_without_rabbitmq_says_so_and_uses_redis(
    stage: Stage, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "RabbitMQ", MagicMock(side_effect=Missing("it isn't here")))
    assert command.main(["--seed", "3"]) == 0
    assert stage.brokers == [None]
    assert "The broker is Redis, although it should be RabbitMQ: it isn't here." in capsys.readouterr().out


@pytest.mark.long
def test_run_too_short_for_its_restore_is_refused_unless_it_leaves_the_restore_out(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["--minutes", "2"])
    assert "choose --minutes 2.5 or more, or --without-restore" in capsys.readouterr().err
    assert command.main(["--minutes", "2", "--without-restore"]) == 0
    assert stage.options["restore"] is False
    assert command.main(["--minutes", "2.5"]) == 0
    assert stage.options["restore"] is True


@pytest.mark.parametrize("minutes", [shortest("restore"), 3, 20])
@pytest.mark.parametrize("left_out", [None, *ONCE])
def test_run_that_is_long_enough_has_each_planned_fault(
    minutes: float, left_out: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One upgrade and one restore; sessions that are ended and a broker that is emptied at least once, and in 20 minutes two at once."""
    monkeypatch.setattr("tools.soak.faults.sleep", lambda seconds: None)
    members = [Member(name, Path(), Path()) for name in ("web1", "worker1", "worker2", "beat")]
    site: Any = SimpleNamespace(members=members, postgres=MagicMock(), of_role=lambda role: members[1:3])
    load: Any = SimpleNamespace(is_current=True)
    to = None if left_out == "upgrade" else Path()
    faults = Faults(site, Any, load, random.Random(1), to=to, restore=left_out != "restore")  # type: ignore[arg-type]
    caused: list[tuple[str, ...]] = []
    monkeypatch.setattr(faults, "cause", lambda *found: caused.append(tuple(each.kind for each in found)))
    faults.run(minutes * 60)
    kinds = [kind for found in caused for kind in found]
    assert {name: kinds.count(name) for name in ONCE} == {name: int(name != left_out) for name in ONCE}
    if minutes >= 3:
        assert set(AT_LEAST_ONCE) <= set(kinds)
    assert minutes < 20 or max(map(len, caused)) == 2
    assert faults.planned == set(kinds)


@pytest.mark.parametrize("group", groups())
def test_defects_of_a_group_fit_the_source_together(group: str) -> None:
    changes = [change for defect in groups()[group].values() for change in defect.changes]
    for module, source in broken_sources(changes).items():
        compile(source, module, "exec")


def test_site_that_is_interrupted_as_it_starts_ends_the_servers_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []

    class Server:
        url = ""

        def __init__(self, *_: object, **__: object) -> None:
            pass

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            ended.append(type(self).__name__)

        def configure(self, **_: str) -> None:
            pass

        def restart(self) -> None:
            pass

    class Interrupted(Server):
        def __enter__(self) -> None:
            raise SystemExit

    monkeypatch.setattr(site_module, "Nginx", Server)
    monkeypatch.setattr(site_module, "BackedUp", Server)
    monkeypatch.setattr(site_module, "Redis", Interrupted)
    with pytest.raises(SystemExit), Site(tmp_path, tmp_path):
        pass
    assert ended == ["Server"]
