"""One fault every thirty seconds, now and then two at once; among them an upgrade from the release and a restore of PostgreSQL."""

import random
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from psycopg import OperationalError

from tools.backups import block
from tools.soak.load import Load
from tools.soak.receiver import Receiver
from tools.soak.site import Member, Site
from tools.soak.windows import BOUNDS, Window, Windows

EVERY = 30.0  # seconds
PAUSE = 10.0  # for which a worker is stopped: others take it for dead
PROXY_AWAY = 1.0
UNDONE = 4.0  # seconds of load that a restore to a moment undoes
TWO_AT_ONCE = 0.3  # of the slots
LEASED = "SELECT id::text FROM webhooks_delivery WHERE lease_until IS NOT NULL"
TRIED_SINCE = (
    "SELECT delivery_id::text FROM webhooks_attempt WHERE attempted_at > %s::timestamptz - interval '1 s'"
)
ONCE = {"upgrade": 1, "restore": 3}  # in a run, and the first slot of thirty seconds in which it may come
AT_LEAST_ONCE = ("sessions are ended", "broker is emptied")
ROLES = {"web": "web server is killed", "worker": "worker is killed", "beat": "scheduler is killed"}


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    cause: Callable[[], None]
    what: str = ""  # the process


def shortest(name: str) -> float:
    """The minutes of a run that has a slot for the upgrade, or the restore."""
    return (ONCE[name] + 2) * EVERY / 60


class Faults:
    """`run` causes them one after another until the time is over, and `last` one more while the rest is delivered.

    `to` is the tree to upgrade to; without it, and without `restore`, a run has no such fault.
    """

    def __init__(
        self,
        site: Site,
        receiver: Receiver,
        load: Load,
        chance: random.Random,
        *,
        to: Path | None,
        restore: bool = True,
    ) -> None:
        self.windows: list[Window] = []
        self.planned = {"upgrade"} if to else set()
        self.planned |= {"restore"} if restore else set()
        self.first_delivery_after_restore = inf  # seconds
        self.migrated_in: float | None = None
        self.upgraded_at = inf if to else 0.0  # of `time.monotonic`; what was before is the release's
        self._site, self._receiver, self._load = site, receiver, load
        self._chance = chance
        self._to = to
        if restore:
            # The release that runs first has no table for the time of a backup.
            site.postgres.do(
                block("first-backup").replace("back-up full", "pgbackrest --stanza=platform backup")
            )
        self._undone_deliveries = frozenset[str]()  # tried since the moment that a restore went back to
        self._began, self._ended = monotonic(), inf
        self.at_work = Lock()  # held from a fault until the installation has recovered
        load.is_current = to is None

    def so_far(self) -> Windows:
        return Windows(self.windows, began=self._began, ended=min(self._ended, monotonic()))

    # When

    def run(self, seconds: float) -> None:
        plan = self.plan(int(seconds / EVERY) - 1)
        self.planned |= {fault.kind for faults in plan for fault in faults}
        began = self._began = monotonic()
        for slot, faults in enumerate(plan, 1):
            sleep(max(0.0, began + slot * EVERY - monotonic()))
            self.cause(*faults)
        sleep(max(0.0, began + seconds - monotonic()))
        self._ended = monotonic()

    def last(self) -> None:
        """A worker dies while there is nothing but retries."""
        worker = self._site.of_role("worker")[-1]
        self.cause(self._killed(worker))

    def plan(self, slots: int) -> list[list[Fault]]:
        """The faults of each slot. The kinds of AT_LEAST_ONCE come as soon as there is a slot without upgrade and restore for each."""
        chance, once = self._chance, {"upgrade": self.upgrade, "restore": self.restore}
        at = {
            name: max(ONCE[name], int(share * slots)) for name, share in (("upgrade", 0.1), ("restore", 0.2))
        }
        taken = {at[name]: [Fault(name, once[name])] for name in self.planned}
        free = [slot for slot in range(slots) if slot not in taken]
        chosen = {
            slot: self._choose(chance, after_restore="restore" in self.planned and slot > at["restore"])
            for slot in free
        }
        for slot, kind in zip(chance.sample(free, len(free)), AT_LEAST_ONCE, strict=False):
            chosen[slot] = [next(each for each in self._kinds() if each.kind == kind), *chosen[slot][1:]]
        return [found for _, found in sorted((taken | chosen).items()) if found]

    def _choose(self, chance: random.Random, *, after_restore: bool) -> list[Fault]:
        """One, or two of different kinds."""
        kinds = self._kinds(after_restore=after_restore)
        first = chance.choice(kinds)
        others = [each for each in kinds if each.kind not in (first.kind, *AT_LEAST_ONCE)]
        return [first, chance.choice(others)] if chance.random() < TWO_AT_ONCE else [first]

    def _kinds(self, *, after_restore: bool = False) -> list[Fault]:
        """After the restore the first web process and the first worker live on, so that their memory can be measured."""
        spared = ("web1", "worker1", "beat") if after_restore else ()
        members = [member for member in self._site.members if member.name not in spared]
        return [
            Fault("PostgreSQL crashes", self._site.postgres.restart),
            Fault("sessions are ended", self._end_sessions),
            Fault("broker is emptied", self._empty_broker),
            Fault("proxy is killed", self._kill_proxy),
            *map(self._killed, members),
            *(
                Fault("worker is paused", lambda member=member: self._pause(member), member.name)  # type: ignore[misc]
                for member in members
                if member.role == "worker"
            ),
        ]

    def _killed(self, member: Member) -> Fault:
        return Fault(ROLES[member.role], lambda: self._site.kill(member), member.name)

    # How

    def cause(self, *faults: Fault) -> None:
        """All at once, and then wait until the installation has recovered."""
        with self.at_work, ThreadPoolExecutor(len(faults)) as pool:
            began = monotonic()
            may_double = any(BOUNDS[fault.kind].doubles for fault in faults)
            in_flight = self._in_flight(LEASED) if may_double else frozenset()
            for fault in faults:
                pool.submit(self._cause, fault, began, in_flight)

    def _cause(self, fault: Fault, began: float, in_flight: frozenset[str]) -> None:
        try:
            fault.cause()
            took = monotonic() - began
            self._site.wait_until_ready()
        except Exception as problem:
            self._load.ledger.failed(f"{fault.kind}: {problem!r}")
            raise
        ended = monotonic()
        doubles = BOUNDS[fault.kind].doubles
        since = began
        if fault.kind == "restore" and (undone := self._load.ledger.undone):
            since, in_flight = undone[0], in_flight | self._undone_deliveries
        self.windows.append(Window(fault.kind, since, ended, in_flight if doubles else None, fault.what))
        what = f"{fault.kind} ({fault.what})" if fault.what else fault.kind
        print(f"  {what}: {took:.1f} s; ready after {ended - began:.1f} s", file=sys.stderr, flush=True)

    def _in_flight(self, statement: str, *values: str) -> frozenset[str]:
        with self._site.postgres.connect("soak") as session:
            return frozenset(id_ for (id_,) in session.execute(statement, values))

    def _pause(self, member: Member) -> None:
        member.signal(signal.SIGSTOP)
        sleep(PAUSE)
        member.signal(signal.SIGCONT)

    def _end_sessions(self) -> None:
        """Where PostgreSQL crashes at the same moment, they have ended, this one among them."""
        with suppress(OperationalError), self._site.postgres.connect() as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak' AND pid <> pg_backend_pid()"
            )

    def _empty_broker(self) -> None:
        self._site.redis.client.flushall()
        if self._site.rabbitmq:
            self._site.rabbitmq.empty()

    def _kill_proxy(self) -> None:
        self._site.proxy.kill()
        sleep(PROXY_AWAY)
        self._site.proxy.start()

    def upgrade(self) -> None:
        """As docs/upgrading.md has it: migrate, static files, then the web processes one by one, workers, scheduler."""
        assert self._to
        began = monotonic()
        self._site.run("manage.py", "migrate", "--verbosity=0", tree=self._to)
        self.migrated_in = monotonic() - began
        self._site.run("manage.py", "collectstatic", "--noinput", "--verbosity=0", tree=self._to)
        self._site.tree = self._to
        for role in ("web", "worker", "beat"):
            for member in self._site.of_role(role):
                self._site.replace(member, self._to)
        self.upgraded_at = monotonic()
        self._load.is_current = True

    def restore(self) -> None:
        """As docs/operations-run.md has it: the cluster is lost; an empty one gets the backup, the archive and the rest. Half of the
        runs restore it to a moment some seconds before.
        """
        if self._chance.random() < 0.5:
            with self._load.only_orders():
                self._undo()
        else:
            self._site.postgres.crash()
            self._bring_back(to=None)

    def _undo(self) -> None:
        with self._site.postgres.connect("soak") as session:
            (moment,) = session.execute("SELECT clock_timestamp()::text").fetchone() or ("",)
        since = monotonic()
        sleep(UNDONE)
        self._undone_deliveries = self._in_flight(TRIED_SINCE, moment) | self._in_flight(LEASED)
        self._site.postgres.crash()
        self._load.ledger.undone = since, monotonic()
        self._bring_back(to=moment)

    def _bring_back(self, *, to: str | None) -> None:
        began = monotonic()
        self._site.postgres.restore(to or "", from_its_disk=True)
        arrivals = len(self._receiver.arrivals)
        self._site.environment["FEED_EPOCH"] = "1"
        for member in self._site.of_role("web"):
            self._site.replace(member)
        while len(self._receiver.arrivals) == arrivals and monotonic() - began < 300:
            sleep(0.05)
        if arrived := self._receiver.arrivals[arrivals:]:
            self.first_delivery_after_restore = arrived[0].at - began
