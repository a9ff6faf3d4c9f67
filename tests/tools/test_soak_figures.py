"""The figures of the soak: a run in which nothing is wrong, and one change for each figure that has to turn it red."""

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, time
from types import SimpleNamespace
from typing import Any

import pytest

from tools.soak.calls import ERASED_AFTER
from tools.soak.figures import ALL
from tools.soak.figures.deliveries import doubled
from tools.soak.ledger import FIRST, Away, Change, Exported, Install, Ledger, Move, Placed
from tools.soak.receiver import Arrival, HookCall, discount_of, fee_of
from tools.soak.run import Database, Delivery, Order, Run
from tools.soak.seed import HOOKED, HOOKS, PAYING, RELEASED, STOCK
from tools.soak.shop import Mirrored
from tools.soak.week.clock import WEEK, Clock, Leap
from tools.soak.week.due import Due, Passed
from tools.soak.windows import BOUNDS, Window, Windows

STORE, OTHER = "store", "another store"
NOW = monotonic()  # when the order was placed; not before the machine had started
GONE = NOW + 100  # when the paying app was uninstalled
SUBTOTAL = 1200
ROW = ("orders", "o-1")  # of the connected store


def install(app: int, webhook: str, *, business: str = STORE, **more: Any) -> Install:
    about = {
        "token": f"token of {webhook}",
        "secret": f"secret of {webhook}",
        "began": NOW - 60,
        "since": NOW - 50,
    }
    return Install(app, business, "", "", webhook=webhook, **(about | more))


def signature(secret: str, text: bytes) -> str:
    return f"sha256={hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()}"


def body_of(event: str, at: float, business: str, data: dict[str, Any]) -> bytes:
    moment = datetime.fromtimestamp(at - monotonic() + time(), UTC).isoformat()
    return json.dumps({"event": event, "timestamp": moment, "businessId": business, "data": data}).encode()


def arrival(event: str, of: Install, at: float, data: dict[str, Any]) -> Arrival:
    """A tenth of a second after it was written."""
    body = body_of(event, at - 0.1, of.business, data)
    wall = at - monotonic() + time()
    stamp = str(int(wall))
    signed = signature(of.secret, stamp.encode() + b"." + body)
    id_ = f"{event} to {of.webhook}"
    return Arrival(of.app, id_, of.webhook, of.business, event, stamp, signed, body, at, wall)


def hook_call(point: str, of: Install) -> HookCall:
    wall, body = NOW - monotonic() + time(), b"{}"
    stamp = str(int(wall))
    signed = signature(of.secret, stamp.encode() + b"." + body)
    return HookCall(of.app, point, of.business, "request", stamp, signed, body, NOW + 0.5, wall)


def sound(folder: Path) -> Run:
    """An order of a store with two apps is placed, paid and confirmed. Then one app is uninstalled, and erases its data."""
    hooked, payer = install(HOOKED, "w0"), install(PAYING, "w2", ended=GONE, gone=GONE)
    released = install(RELEASED, "w9")
    fee, discount = fee_of(SUBTOTAL), discount_of(SUBTOTAL)
    order = Placed(
        "o", "Kim 1", STORE, NOW, NOW + 1, "CONFIRMED", NOW + 3, is_paid=True, request_id="request"
    )
    amounts = {
        "subtotal": SUBTOTAL,
        "discount": discount,
        "deliveryFee": fee,
        "amount": SUBTOTAL - discount + fee,
    }
    order.body = {name: amount / 100 for name, amount in amounts.items()}
    events: list[tuple[str, dict[str, Any], str]] = [
        ("order.created", {"orderId": "o"}, "o"),
        ("order.status_changed", {"orderId": "o", "status": "CONFIRMED"}, "o CONFIRMED"),
        ("payment.completed", {"orderId": "o"}, "o"),
    ]
    changes = [Change(event, key, STORE, NOW, NOW + 1) for event, _, key in events]
    arrivals = [
        arrival(event, app, NOW + 1, data) for app in (hooked, payer, released) for event, data, _ in events
    ]
    arrivals.append(arrival("business.data_erasure", payer, GONE + ERASED_AFTER + 1, {}))
    hooked.seen = released.seen = [(event, event, key) for event, _, key in events]
    ledger = Ledger(
        placed=[order], changes=changes, installs=[hooked, payer, released], repeated=1, pictures=1,
        calls={"request": (NOW + 1, "POST /app-api/orders", "token of w0")}, mails={"kim@example.net": NOW + 1},
        exports=[Exported(STORE, NOW + 20, NOW + 21, frozenset({"o"}))],
        moves=[Move("2", 1, 2, NOW - 20, NOW - 15, is_first=True)],
    )  # fmt: skip
    database = Database(
        orders=[Order("o", "Kim 1", "CONFIRMED", "COMPLETED")],
        deliveries={
            each.delivery: Delivery(each.webhook, each.event, "SUCCEEDED", 1, each.at - 0.1, each.at)
            for each in arrivals
        },
        stock=[(STOCK - 1, 1)],
        calls={"request"},
    )
    (folder / "mails").mkdir()
    (folder / "mails/1").write_text("Subject: Order 1\nTo: kim@example.net\n")
    (folder / "log").write_text("")
    site = SimpleNamespace(
        mails=folder / "mails", members=[], ended_by_themselves=[], postgres=SimpleNamespace(directory=folder),
        environment=dict.fromkeys(("SECRET_KEY", "FIELD_ENCRYPTION_KEYS", "METRICS_TOKEN"), "key"),
    )  # fmt: skip
    receiver = SimpleNamespace(
        arrivals=arrivals,
        hooks=[hook_call(point, hooked) for point in HOOKS[HOOKED]],
        first={each.delivery: (each.at, each.app, each.body) for each in arrivals},
    )
    return Run(
        ledger=ledger,
        receiver=receiver,  # type: ignore[arg-type]
        windows=Windows([], began=NOW, ended=NOW + 300),
        database=database,
        world={"password": "password", "merchants": [], "apps": []},
        site=site,  # type: ignore[arg-type]
        faults=SimpleNamespace(planned=set(), migrated_in=None),  # type: ignore[arg-type]
        shop=Mirrored(
            pushed=2,
            killed=1,
            repaired=1,
            shop={ROW: ("1", "PENDING", 9)},
            platform=[(ROW, ("1", "PENDING", 9))],
            published=Counter({ROW: 1}),
        ),
        week=Passed(
            [Due("an export has expired", lambda: True, seen=NOW)], {"calls": ["calls_1"]}, [], [], True
        ),
        clock=Clock([Leap(NOW + 200 + each, NOW + 200.5 + each) for each in range(WEEK)]),
    )


def week_of(run: Run) -> Passed:
    assert run.week
    return run.week


def mirrored(run: Run) -> Mirrored:
    assert run.shop
    return run.shop


def red(run: Run) -> list[str]:
    """The names of the figures that are wrong."""
    return [found.name for figure in ALL for found in figure(run) if found.problem]


def later(run: Run, seconds: float) -> None:
    """The first delivery is sent later than it was."""
    at, app, body = run.receiver.first["order.created to w0"]
    run.receiver.first["order.created to w0"] = at + seconds, app, body


def resign(run: Run, secret: str) -> None:
    first = run.receiver.arrivals[0]
    signed = signature(secret, first.timestamp.encode() + b"." + first.body)
    run.receiver.arrivals[0] = replace(first, signature=signed)


def log(run: Run, level: str, at: float = NOW) -> None:
    moment = datetime.now(UTC) - timedelta(seconds=monotonic() - at)
    line = json.dumps({"level": level, "message": "MainThread crashed.", "timestamp": moment.isoformat()})
    run.logs.append(("worker1", line))


def cancel(run: Run, *, tried: int = 1, waited: float = 0.0, count: int = 20) -> None:
    """Deliveries of the app that was uninstalled."""
    made = Delivery("w2", "order.created", "CANCELLED", tried, GONE - waited, GONE)
    run.database.deliveries |= {f"cancelled {number}": made for number in range(count)}


def back(run: Run) -> None:
    run.ledger.installs.append(install(PAYING, "w3", began=GONE + 1, since=GONE + 2))


def drop_arrival(run: Run, event: str) -> None:
    run.receiver.arrivals[:] = [each for each in run.receiver.arrivals if each.event != event]


def sent_after(run: Run, seconds: float) -> None:
    late = arrival("order.cancelled", run.ledger.installs[1], GONE + seconds, {"orderId": "p"})
    run.receiver.arrivals.append(late)
    run.receiver.first[late.delivery] = late.at, late.app, late.body
    run.database.deliveries[late.delivery] = Delivery("w2", late.event, "SUCCEEDED", 1, late.at, late.at)


def undo(run: Run) -> None:
    """An order is accepted, and a restore to a moment before has undone it."""
    run.ledger.undone = NOW + 49, NOW + 51
    run.ledger.placed.append(Placed("lost", "Kim 2", STORE, NOW + 48, NOW + 50))


def ask(run: Run, version: str, *, seconds: float = 0) -> None:
    """A hook call of the app that is released comes to the server of a version."""
    made = hook_call("order.validate", next(each for each in run.ledger.installs if each.app == RELEASED))
    run.receiver.hooks.append(replace(made, at=made.at + seconds, version=version))


def ask_earlier_again(run: Run) -> None:
    ask(run, "2")
    ask(run, FIRST, seconds=6)


DEFECTS: dict[str, Callable[[Run], object]] = {
    "failed requests": lambda run: run.ledger.failed("GET /: 500"),
    "503 outside of a fault": lambda run: run.ledger.away.append(Away(NOW, "GET /")),
    "no answer outside of a fault": lambda run: run.ledger.away.append(Away(NOW, "GET /", is_answer=False)),
    "503 without Retry-After": lambda run: run.ledger.away.append(Away(NOW, "GET /", has_retry_after=False)),
    "orders lost": lambda run: run.database.orders.clear(),
    "orders doubled": lambda run: run.database.orders.append(Order("p", "Kim 1", "PENDING", None)),
    "orders with another status": lambda run: setattr(run.ledger.placed[0], "status", "READY"),
    "payments with another status": lambda run: run.database.orders.__setitem__(
        0, replace(run.database.orders[0], payment="PENDING")
    ),
    "stock that is off": lambda run: run.database.stock.append((STOCK, 1)),
    "orders whose total": lambda run: setattr(
        run.ledger.placed[0], "body", {**run.ledger.placed[0].body, "deliveryFee": 1}
    ),
    "events lost": lambda run: drop_arrival(run, "payment.completed"),
    "deliveries cancelled by": cancel,
    "events of a store that its app": lambda run: setattr(run.ledger.installs[0], "business", OTHER),
    "events after an uninstall": lambda run: sent_after(run, 6),
    "erasures lost": lambda run: drop_arrival(run, "business.data_erasure"),
    "erasures that were early": back,
    "their lateness, p99": lambda run: later(run, 8),
    "their lateness, at most": lambda run: later(run, 16),
    "delivered by the database alone": lambda run: run.receiver.arrivals.pop(),
    "received, but not in the database": lambda run: run.database.deliveries.pop("order.created to w0"),
    "deliveries": lambda run: run.database.deliveries.update(
        x=Delivery("w0", "order.created", "EXHAUSTED", 6, NOW, NOW)
    ),
    "webhooks without the signature": lambda run: resign(run, "secret of w2"),
    "hook calls without the signature": lambda run: run.receiver.hooks.append(
        replace(run.receiver.hooks[0], signature="", request_id="other")
    ),
    "another body": lambda run: run.receiver.arrivals.__setitem__(
        0, replace(run.receiver.arrivals[0], body=run.receiver.arrivals[0].body + b" ")
    ),
    "doubled, of those": lambda run: run.receiver.arrivals.append(run.receiver.arrivals[0]),
    "hook calls that such an order": lambda run: run.receiver.hooks.pop(),
    "orders of which a hook had no answer": lambda run: run.database.unanswered.add("o"),
    "events missing in the feed": lambda run: run.ledger.installs[0].seen.pop(),
    "events twice in the feed": lambda run: run.ledger.installs[0].seen.extend(
        run.ledger.installs[0].seen[:1]
    ),
    "orders missing in an export": lambda run: run.ledger.exports.append(
        Exported(STORE, NOW + 30, NOW + 31, frozenset())
    ),
    "the longest export": lambda run: run.ledger.exports.append(
        Exported(STORE, NOW + 30, NOW + 120, frozenset({"o"}))
    ),
    "mails to buyers, missing": lambda run: run.ledger.mails.update({"lee@example.net": NOW}),
    "pictures that were not": lambda run: run.ledger.bad_pictures.append("p"),
    "moves of releases": lambda run: run.ledger.moves.clear(),
    "of these, to another version": ask_earlier_again,
    "calls missing in the log": lambda run: run.ledger.calls.update(
        other=(NOW, "GET /app-api/orders", "token of w0")
    ),
    "rows that a connected store": lambda run: setattr(mirrored(run), "pushed", 0),
    "rows that it had not pushed": lambda run: setattr(mirrored(run), "killed", 0),
    "rows that a snapshot repaired": lambda run: setattr(mirrored(run), "repaired", 0),
    "rows of a connected store lost": lambda run: mirrored(run).platform.clear(),
    "rows of a connected store doubled": lambda run: mirrored(run).platform.append(mirrored(run).platform[0]),
    "rows of a connected store left": lambda run: mirrored(run).shop.update({ROW: ("1", "READY", 9)}),
    "rows that a snapshot still": lambda run: mirrored(run).left.append("outdated"),
    "orders of a connected store not": lambda run: mirrored(run).published.update([ROW]),
    "hours that passed": lambda run: run.clock.leaps.pop(),
    "an export has expired": lambda run: setattr(week_of(run).dues[0], "seen", None),
    "partitions of calls that": lambda run: week_of(run).dropped.update(calls=[]),
    "partitions that stayed": lambda run: week_of(run).overdue.append("calls_1"),
    "partitions ahead": lambda run: week_of(run).missing.append("calls_2"),
    "the encryption key": lambda run: setattr(run.week, "has_new_key", False),
    "planned faults": lambda run: run.faults and run.faults.planned.add("upgrade"),
    "processes that ended": lambda run: run.site and run.site.ended_by_themselves.append("web1: 1"),
    "statements that waited": lambda run: (
        run.site
        and (run.site.postgres.directory / "log").write_text(
            "2026-11-26 10:00:00.000 UTC still waiting for a lock\n"
        )
    ),
    "errors in the log": lambda run: log(run, "CRITICAL"),
    "lines of the log with a secret": lambda run: run.logs.append(("web1", "token of w0")),
}


def test_nothing_is_wrong_with_a_sound_run(tmp_path: Path) -> None:
    assert red(sound(tmp_path)) == []


@pytest.mark.parametrize("figure", DEFECTS)
def test_defect_turns_its_figure_red(figure: str, tmp_path: Path) -> None:
    run = sound(tmp_path)
    DEFECTS[figure](run)
    assert any(name.startswith(figure) for name in red(run)), red(run)


@pytest.mark.parametrize(
    "harmless",
    [
        lambda run: cancel(run, tried=0, waited=2, count=3),
        lambda run: sent_after(run, 4),
        lambda run: later(run, 5),
        lambda run: log(run, "INFO"),
        lambda run: run.logs.append(("web1", '{"level":"ERROR"}')),  # of the release, which writes no times
        lambda run: run.logs.append(("web1", '{"level":"CRIT')),  # cut off
        undo,
        lambda run: ask(run, "2"),
    ],
)
def test_what_is_within_its_limit_is_not_wrong(harmless: Callable[[Run], object], tmp_path: Path) -> None:
    run = sound(tmp_path)
    harmless(run)
    assert red(run) == []


def test_delivery_that_waited_until_its_uninstall_counts_as_late(tmp_path: Path) -> None:
    run = sound(tmp_path)
    cancel(run, tried=0, waited=20, count=1)
    assert "their lateness, at most" in red(run)


@pytest.mark.parametrize("kind", BOUNDS)
def test_fault_excuses_what_it_may_cause_for_as_long_as_the_table_says(kind: str) -> None:
    bound = BOUNDS[kind]
    windows = Windows([Window(kind, NOW, NOW + 1)], began=NOW, ended=NOW + 100)
    until = NOW + 1 + bound.deliveries
    assert windows.excuse_delivery(NOW - 5, NOW)
    assert windows.excuse_delivery(until, until + 20)
    assert not windows.excuse_delivery(until + 0.1, until + 20)
    assert windows.share() == f"{1 + bound.deliveries:.0f}%"
    assert windows.excuse_request(NOW + 1) is (bound.requests is not None)
    assert not windows.excuse_request(NOW + 1.1 + (bound.requests or 0))


def test_windows_that_overlap_count_once() -> None:
    faults = [Window("worker is killed", NOW + at, NOW + at) for at in (0, 3, 50)]
    assert Windows(faults, began=NOW, ended=NOW + 100).share() == "13%"


def test_table_of_bounds_is_the_documented_one() -> None:
    page = (Path(__file__).parents[2] / "docs/faults.md").read_text()
    for kind, bound in BOUNDS.items():
        requests = "never" if bound.requests is None else f"{bound.requests:g} s"
        doubles = "yes" if bound.doubles else "no"
        assert f"| {kind} | {requests} | {bound.deliveries:g} s | {doubles} |" in page


# Doubles

ONE = "in flight"
KILLED = Window("worker is killed", began=100.0, ended=101.0, in_flight=frozenset({ONE}))
AGAIN = Window("worker is killed", began=110.0, ended=111.0, in_flight=frozenset({ONE}))
EMPTIED = Window("broker is emptied", began=100.0, ended=101.0)


@pytest.mark.parametrize(
    ("windows", "delivery", "at", "explained"),
    [
        ([KILLED], ONE, [99.0, 105.0], True),
        ([KILLED], ONE, [80.0, 105.0], False),
        ([KILLED], ONE, [98.0, 99.0], False),
        ([KILLED], ONE, [99.0, 105.0, 130.0, 131.0], False),
        ([KILLED], ONE, [99.0, 101.0, 105.0], False),
        ([KILLED], "another", [99.0, 105.0], False),
        ([KILLED], "claimed since the look", [100.1, 105.0], True),
        ([KILLED], "claimed after the fault", [103.0, 105.0], False),
        ([EMPTIED], ONE, [99.0, 105.0], False),
        ([EMPTIED], ONE, [100.1, 105.0], False),
        ([KILLED, AGAIN], ONE, [99.0, 105.0, 115.0], True),
    ],
)
def test_double_is_explained_by_a_fault_at_which_it_was_in_flight(
    windows: list[Window], delivery: str, at: list[float], explained: bool, tmp_path: Path
) -> None:
    """A fault explains one double of each delivery."""
    run = sound(tmp_path)
    run.windows = Windows(windows, began=0, ended=300)
    run.receiver.arrivals[:] = [
        replace(run.receiver.arrivals[0], delivery=delivery, at=moment) for moment in at
    ]
    (found,) = doubled(run)
    assert found.value.startswith(f"{len(at) - 1} of ")
    assert (found.problem == "") is explained
    assert not found.by_speed
