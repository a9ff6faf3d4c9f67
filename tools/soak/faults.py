"""One fault every thirty seconds; among them an upgrade from the release and a restore of PostgreSQL."""

import random
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from tools.backups import block
from tools.soak.receiver import Receiver
from tools.soak.site import Site

EVERY = 30.0  # seconds
PAUSE = 10.0  # for which a worker is stopped: others take it for dead
AFTER = 10.0  # seconds after a fault in which a 503 may still be its consequence
ATTEMPT = 10.0  # seconds that an attempt takes at most
LOOK = 2.0  # seconds, for the look at what is in flight and the fault after it
LEASED = "SELECT id::text FROM webhooks_delivery WHERE lease_until IS NOT NULL"
ONCE = {"upgrade": 1, "restore": 3}  # in a run, and the first slot of thirty seconds in which it may come
# These end or stop a dispatcher, or cut it off from the database, so that it can't record what was answered.
MAY_DOUBLE = ("worker", "postgres", "sessions", "restore")


@dataclass(frozen=True, slots=True)
class Window:
    """A fault, from its beginning to the end of the repair."""

    name: str
    began: float  # of `time.monotonic`
    ended: float  # when all web processes were ready again
    in_flight: frozenset[str] | None = None  # deliveries that were leased; None if it may double nothing

    def explains(self, delivery: str, first: float, again: float) -> bool:
        """Whether it may have lost the answer to the first arrival: the delivery was in flight, maybe since the look."""
        if self.in_flight is None or again < self.began:
            return False
        if delivery in self.in_flight:
            return self.began - ATTEMPT <= first <= self.ended + AFTER
        return self.began <= first <= self.began + LOOK


def shortest(name: str) -> float:
    """The minutes of a run that has a slot for the upgrade, or the restore."""
    return (ONCE[name] + 2) * EVERY / 60


class Faults:
    """`run` causes them one after another until the time is over.

    `to` is the tree to upgrade to; without it, and without `restore`, a run has no such fault.
    """

    def __init__(
        self, site: Site, receiver: Receiver, chance: random.Random, *, to: Path | None, restore: bool = True
    ) -> None:
        self.windows: list[Window] = []
        self.planned = {"upgrade"} if to else set()
        self.planned |= {"restore"} if restore else set()
        self.restored = False
        self.first_delivery_after_restore: float | None = None
        self.migrated_in: float | None = None
        self._site = site
        self._receiver = receiver
        self._chance = chance
        self._to = to
        if restore:
            # The release that runs first has no table for the time of a backup.
            site.postgres.do(block("first-backup").replace("back-up full", "pgbackrest backup"))

    def run(self, seconds: float) -> None:
        began = monotonic()
        slots = int(seconds / EVERY) - 1
        upgrade, restore = max(ONCE["upgrade"], int(0.1 * slots)), max(ONCE["restore"], int(0.2 * slots))
        for slot in range(slots):
            sleep(max(0.0, began + (slot + 1) * EVERY - monotonic()))
            if slot == upgrade and "upgrade" in self.planned:
                self.cause("upgrade", self.upgrade)
            elif slot == restore and "restore" in self.planned:
                self.cause("restore", self.restore)
            else:
                name = self._chance.choice(list(self._kinds(after_restore=slot > restore)))
                self.cause(name, self._kinds(after_restore=slot > restore)[name])
        sleep(max(0.0, began + seconds - monotonic()))

    def _kinds(self, *, after_restore: bool) -> dict[str, Callable[[], None]]:
        """After the restore the first web process and the first worker live on, so that their memory can be measured."""
        spared = ("web1", "worker1", "beat") if after_restore else ()
        kinds: dict[str, Callable[[], None]] = {
            "postgres crashes": self._site.postgres.restart,
            "sessions are ended": self._end_sessions,
            "redis is emptied": self._empty_redis,
        }
        for member in self._site.members:
            if member.name not in spared:
                kinds[f"{member.name} is killed"] = lambda member=member: self._site.kill(member)  # type: ignore[misc]
                if member.role == "worker":
                    kinds[f"{member.name} is paused"] = lambda member=member: self._pause(member)  # type: ignore[misc]
        return kinds

    def cause(self, name: str, fault: Callable[[], None]) -> None:
        began = monotonic()
        in_flight = self._in_flight() if name.startswith(MAY_DOUBLE) else None
        fault()
        took = monotonic() - began
        self._site.wait_until_ready()
        ended = monotonic()
        self.windows.append(Window(name, began, ended, in_flight))
        print(f"  {name}: {took:.1f} s; ready after {ended - began:.1f} s", file=sys.stderr)

    def _in_flight(self) -> frozenset[str]:
        with self._site.postgres.connect("soak") as session:
            return frozenset(id_ for (id_,) in session.execute(LEASED))

    def _pause(self, member: object) -> None:
        member.signal(signal.SIGSTOP)  # type: ignore[attr-defined]
        sleep(PAUSE)
        member.signal(signal.SIGCONT)  # type: ignore[attr-defined]

    def _end_sessions(self) -> None:
        with self._site.postgres.connect() as session:
            session.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak' AND pid <> pg_backend_pid()"
            )

    def _empty_redis(self) -> None:
        self._site.redis.client.flushall()

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

    def restore(self) -> None:
        """As docs/operations.md has it: the cluster is lost, and restored to its last commit."""
        began = monotonic()
        self.restored = True
        self._site.postgres.crash()
        self._site.postgres.restore()
        arrivals = len(self._receiver.arrivals)
        self._site.environment["FEED_EPOCH"] = "1"
        for member in self._site.of_role("web"):
            self._site.replace(member)
        while len(self._receiver.arrivals) == arrivals:
            if monotonic() - began > 300:
                return
            sleep(0.05)
        self.first_delivery_after_restore = self._receiver.arrivals[arrivals].at - began
