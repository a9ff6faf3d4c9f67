"""The soak: how a run begins and ends, and what its verdict calls lost, doubled, or the fault of a slow machine."""

import json
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
from tools.servers import Postgres
from tools.soak import __main__ as command
from tools.soak import site as site_module
from tools.soak import verdict
from tools.soak.__main__ import judge
from tools.soak.faults import ONCE, Faults, Window, shortest
from tools.soak.load import Install, Ledger, Placed
from tools.soak.receiver import LATE_BY, Arrival, Receiver
from tools.soak.site import LOG_OF_POSTGRES, Site
from tools.soak.verdict import Finding
from webhooks.models import Delivery


def install(business: str, *, since: float = 1.0, ended: float | None = None) -> Install:
    return Install(0, business, "", "", "", "", since, ended)


def arrival(event: str = "", order: str = "", *, delivery: str = "", at: float = 0.0) -> Arrival:
    body = json.dumps({"data": {"orderId": order}}).encode()
    return Arrival(0, delivery, "", event, "", "", body, at, 0.0)


def lost(ledger: Ledger, *arrivals: Arrival, cancelled: set[verdict.AppEvent] | None = None) -> list[str]:
    """The events that the verdict names as lost."""
    found = {each.name: each for each in verdict.events(ledger, arrivals, cancelled or set())}
    assert not found["events lost"].by_speed
    return [
        event for event in ("order.created", "order.status_changed") if event in found["events lost"].problem
    ]


@pytest.mark.parametrize("ended", [None, 50.0], ids=["stayed", "ended"])
def test_event_that_did_not_arrive_is_lost_whether_or_not_the_app_stayed(ended: float | None) -> None:
    """The order, and then its status, were accepted while the app was installed."""
    ledger = Ledger(installs=[install("b", ended=ended)], placed=[Placed("o", "Kim 1", "b", 10, 11, 12)])
    assert lost(ledger) == ["order.created", "order.status_changed"]
    assert lost(ledger, arrival("order.created", "o")) == ["order.status_changed"]
    assert lost(ledger, arrival("order.created", "o"), arrival("order.status_changed", "o")) == []


@pytest.mark.parametrize(
    ("placed", "owed"),
    [
        (Placed("o", "Kim 1", "b", 0.5, 11, 12), []),
        (Placed("o", "Kim 1", "b", 10, 51, 52), []),
        (Placed("o", "Kim 1", "b", 10, 11, 51), ["order.created"]),
        (Placed("o", "Kim 1", "another", 10, 11, 12), []),
    ],
    ids=[
        "began before the install",
        "accepted after the uninstall began",
        "status after it",
        "of another store",
    ],
)
def test_only_what_was_accepted_during_an_install_is_owed(placed: Placed, owed: list[str]) -> None:
    assert lost(Ledger(installs=[install("b", ended=50.0)], placed=[placed])) == owed


@pytest.fixture
def order(installation: Installation) -> Order:
    """Dana's app has a delivery of it waiting."""
    helpers.webhook(installation, "https://app.example.com/", ["order.created"])
    bread = factories.product(installation.business)
    return place_order(business=installation.business, request=factories.order_request((bread, 1)))


def lost_of(order: Order, installation: Installation) -> list[str]:
    business = str(order.business_id)
    placed = Placed(str(order.pk), "Kim 1", business, began=10, accepted=11)
    ledger = Ledger(installs=[install(business, ended=50.0)], placed=[placed])
    numbers = {installation.app.client_id: 0}
    return lost(ledger, cancelled=verdict.cancelled_by_uninstalls(connection.connection, numbers))


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_whose_delivery_the_uninstall_cancelled_is_not_lost(
    order: Order, installation: Installation
) -> None:
    uninstall(installation=installation)
    assert lost_of(order, installation) == []


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_that_was_never_written_is_lost_although_the_app_is_uninstalled(
    order: Order, installation: Installation
) -> None:
    Delivery.objects.filter(event_type="order.created").delete()
    uninstall(installation=installation)
    assert lost_of(order, installation) == ["order.created"]


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_that_was_cancelled_before_the_uninstall_is_lost(
    order: Order, installation: Installation
) -> None:
    Delivery.objects.update(status="CANCELLED", due_at=None, finished_at=timezone.now())
    uninstall(installation=installation)
    assert lost_of(order, installation) == ["order.created"]


# Doubles

ONE = "in flight"
KILLED = Window("worker1 is killed", began=100.0, ended=101.0, in_flight=frozenset({ONE}))
EMPTIED = Window("redis is emptied", began=100.0, ended=101.0)


@pytest.mark.parametrize(
    ("window", "delivery", "at", "explained"),
    [
        (KILLED, ONE, [99.0, 105.0], True),
        (KILLED, ONE, [80.0, 105.0], False),
        (KILLED, ONE, [98.0, 99.0], False),
        (KILLED, ONE, [99.0, 105.0, 130.0, 131.0], False),
        (KILLED, ONE, [99.0, 101.0, 105.0], False),
        (KILLED, "another", [99.0, 105.0], False),
        (KILLED, "claimed since the look", [100.1, 105.0], True),
        (KILLED, "claimed after the fault", [103.0, 105.0], False),
        (EMPTIED, ONE, [99.0, 105.0], False),
        (EMPTIED, ONE, [100.1, 105.0], False),
    ],
)
def test_double_is_explained_by_a_fault_at_which_it_was_in_flight(
    window: Window, delivery: str, at: list[float], explained: bool
) -> None:
    arrivals = [arrival(delivery=delivery, at=moment) for moment in at]
    found = verdict.doubled([*arrivals, arrival(delivery="once", at=99.5)], [window])
    assert found.value.startswith(f"{len(at) - 1} of ")
    assert (found.problem == "") is explained
    assert not found.by_speed


def test_each_of_two_faults_explains_one_double_of_a_delivery() -> None:
    again = Window("worker2 is killed", began=110.0, ended=111.0, in_flight=frozenset({ONE}))
    arrivals = [arrival(delivery=ONE, at=moment) for moment in (99.0, 105.0, 115.0)]
    assert verdict.doubled(arrivals, [KILLED, again]).problem == ""


# The load


@pytest.mark.timed
def test_apps_answer_a_share_of_what_they_receive_late() -> None:
    """What was received counts at once, even if the sender dies before it gets the answer."""
    head = {
        f"X-{name}": "1"
        for name in ("Service-Event-Id", "Webhook-Business-Id", "Webhook-Event", "Webhook-Timestamp")
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


# Planned faults, errors in the log, and the log of PostgreSQL

RESTORED = Window("restore", began=100.0, ended=101.0)
UPGRADED = Window("upgrade", began=130.0, ended=131.0)


@pytest.mark.parametrize(
    ("windows", "planned", "missing"),
    [
        ([UPGRADED, RESTORED], {"upgrade", "restore"}, []),
        ([KILLED], {"upgrade", "restore"}, ["upgrades", "restores"]),
        ([RESTORED], {"upgrade", "restore"}, ["upgrades"]),
        ([RESTORED], {"restore"}, []),
        ([UPGRADED], {"upgrade"}, []),
        ([], set(), []),
    ],
)
def test_run_without_a_planned_upgrade_or_restore_is_wrong(
    windows: list[Window], planned: set[str], missing: list[str]
) -> None:
    found = list(verdict.planned_faults(windows, planned))
    assert [each.name for each in found if each.problem] == missing
    assert not any(each.by_speed for each in found)


def entry(level: str, **more: str) -> tuple[str, str]:
    return "worker1", json.dumps({"level": level, "message": "MainThread crashed.", **more})


@pytest.mark.parametrize("level", ["ERROR", "CRITICAL"])
def test_error_and_crash_outside_of_a_fault_are_named(level: str) -> None:
    now = timezone.now().isoformat()
    lines = [entry("INFO", timestamp=now, level_of="ERROR"), entry(level, timestamp=now), entry(level)]
    found = verdict.errors(lines, [])
    assert found.value == "1 of 2"
    assert "crashed" in found.problem
    during = Window("worker1 is killed", began=monotonic() - 1, ended=monotonic())
    assert verdict.errors(lines, [during]).problem == ""


def test_line_of_the_log_that_is_cut_off_is_no_error_of_its_own() -> None:
    whole = entry("CRITICAL", timestamp=timezone.now().isoformat())
    found = verdict.errors([("worker1", whole[1][:40]), ("worker1", "{}"), ("worker1", "plain"), whole], [])
    assert found.value == "1 of 1"


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
        self.is_over = False
        self.release: Path | None = Path("release")
        for name in ("Load", "Memory", "Site", "wait_until_settled"):
            monkeypatch.setattr(command, name, MagicMock())
        monkeypatch.setattr(command, "check_out", lambda _: self.release)
        monkeypatch.setattr(command, "Receiver", self._receiver)
        monkeypatch.setattr(command, "Faults", self._faults)
        monkeypatch.setattr(command, "findings", lambda *_: [])

    @contextmanager
    def _receiver(self, chance: random.Random) -> Iterator[MagicMock]:
        for _ in range(self.drawn_by_others):
            chance.random()
        try:
            yield MagicMock()
        finally:
            self.is_over = True

    def _faults(self, site: Any, receiver: Any, chance: random.Random, **options: Any) -> Any:
        self.options = options

        def run(seconds: float) -> None:
            self.draws.append(chance.random())
            self.during_faults()

        return SimpleNamespace(run=run)


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The signal's handler is put back in the end. Until the command has its own, the signal does nothing."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    yield Stage(monkeypatch)
    signal.signal(signal.SIGTERM, before)


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


def test_run_without_a_release_to_upgrade_from_ends_at_once_unless_it_leaves_the_upgrade_out(
    stage: Stage,
) -> None:
    stage.release = None
    with pytest.raises(SystemExit, match="--without-upgrade"):
        command.main([])
    assert stage.draws == []
    assert command.main(["--without-upgrade"]) == 0
    assert stage.options == {"to": None, "restore": True}


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
def test_run_that_is_long_enough_has_one_upgrade_and_one_restore(
    minutes: float, left_out: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.soak.faults.sleep", lambda seconds: None)
    site: Any = SimpleNamespace(
        members=[],
        postgres=SimpleNamespace(do=lambda commands: None, restart=None),
    )
    to = None if left_out == "upgrade" else Path()
    faults = Faults(site, Any, random.Random(1), to=to, restore=left_out != "restore")  # type: ignore[arg-type]
    caused: list[str] = []
    monkeypatch.setattr(faults, "cause", lambda name, fault: caused.append(name))
    faults.run(minutes * 60)
    assert {name: caused.count(name) for name in ONCE} == {name: int(name != left_out) for name in ONCE}
    assert faults.planned == set(ONCE) - {left_out}


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
