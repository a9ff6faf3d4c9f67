"""Lets a week pass in leaps of half a day: before each, the load rests and everything that is under way ends."""

import sys
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from secrets import token_bytes
from time import monotonic, sleep
from typing import Final

from tools.soak.faults import Faults
from tools.soak.load import Load
from tools.soak.receiver import Receiver
from tools.soak.site import Member, Site
from tools.soak.week import rows
from tools.soak.week.clock import LEAP, WEEK, Clock, Leap
from tools.soak.week.due import Begun, Due, Passed
from tools.soak.windows import Window

AFTER: Final = 4  # leaps after the load has ended, so that the last erasures fall due
PER_DAY: Final = 2
KEY_CHANGES_AT: Final = 0.3  # of the week; the shop's key at once after the first day
READY_WITHIN: Final = 60.0  # seconds
QUIET_WITHIN: Final = 120.0  # seconds
LONGEST: Final = 600.0  # seconds that the load goes on for leaps that faults or a slow machine held up
SEEN_WITHIN: Final = 150.0  # seconds after the last leap
UNDER_WAY: Final = """
SELECT count(*) FROM webhooks_delivery
WHERE status IN ('PENDING', 'RETRYING') AND (lease_until IS NOT NULL OR due_at < now() + interval '1 minute')
"""
RETRY_NOW: Final = """
UPDATE webhooks_delivery SET due_at = now()
WHERE status = 'RETRYING' AND lease_until IS NULL AND due_at BETWEEN now() AND now() + interval '1 minute'
"""


def _starts(member: Member) -> int:
    """How often the process has said that it is ready."""
    return member.log.read_text(errors="replace").count(" is ready.")


class Week:
    """Begins as soon as the newest version serves. `finish` waits for its end, and `last` lets two more days pass without load."""

    def __init__(self, site: Site, load: Load, receiver: Receiver, faults: Faults, seconds: float) -> None:
        self.clock = Clock()
        self.dues: list[Due] = []
        self.past: list[rows.Part] = []
        self.taken: list[str] = []  # names of partitions ahead that have to be made again
        self.has_new_key = False
        self._site, self._load, self._receiver, self._faults = site, load, receiver, faults
        self._every = seconds / WEEK
        self._begun = Begun(site, load, self.clock)
        self._lock = load.calm_lock()
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._guarded, args=[self._run], daemon=True)]
        self._threads[0].start()

    def finish(self) -> None:
        end = monotonic() + LONGEST
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))
        self._over.set()
        for thread in self._threads:
            thread.join()

    def last(self) -> None:
        """Two more days, each leap after the periodic tasks had their turn; then wait for what is due."""
        self._over.clear()
        for _ in range(AFTER):
            self._guarded(self._leap)
            sleep(min(self._every, 2 * SEEN_WITHIN / AFTER))
        end = monotonic() + SEEN_WITHIN
        while not self.is_all_seen() and monotonic() < end:
            self._guarded(self._look)
            sleep(1.0)

    def is_all_seen(self) -> bool:
        return all(due.seen for due in self.dues) and not self.missing() and all(self.dropped().values())

    def result(self) -> Passed:
        return Passed(self.dues, self.dropped(), self.overdue(), self.missing(), self.has_new_key)

    # Partitions

    def dropped(self) -> dict[str, list[str]]:
        """Of each split table, which partitions of before the run are gone."""
        there = {each.name for each in self._parts()}
        found: dict[str, list[str]] = {each.table: [] for each in self.past}
        for each in self.past:
            found[each.table] += [each.name] if each.name not in there else []
        return found

    def overdue(self) -> list[str]:
        """Partitions that should have been dropped half a day ago."""
        end = datetime.now(UTC) - timedelta(seconds=LEAP)
        return [each.name for each in self._parts() if each.kept_until < end]

    def missing(self) -> list[str]:
        return sorted({*self.taken} - {each.name for each in self._parts()})

    def _parts(self) -> list[rows.Part]:
        with self._site.postgres.connect("soak") as session:
            return rows.parts(session)

    # How it passes

    def _guarded(self, what: Callable[[], None]) -> None:
        try:
            what()
        except Exception as problem:
            self._load.ledger.failed(f"The week: {problem!r}")

    def _run(self) -> None:
        while not self._load.is_current:
            if self._over.wait(0.2):
                return
        began = monotonic()
        with self._lock:
            self.dues += self._begun.all()
        for number in range(1, WEEK + 1):
            if self._over.wait(max(0.0, began + number * self._every - monotonic())):
                return
            self._leap()
            if number == PER_DAY and self._load.shop:
                with self._lock:
                    self.dues.append(self._begun.change_shop_key())
            if number == round(WEEK * KEY_CHANGES_AT):
                self._threads.append(threading.Thread(target=self._guarded, args=[self._change_key]))
                self._threads[-1].start()

    def _leap(self) -> None:
        asked = monotonic()
        with self._faults.at_work, self._load.rest():
            rests = monotonic()
            self._receiver.is_kind = True
            self._settle()
            began = monotonic()
            self._make_older()
            ended = monotonic()
            self.clock.leaps.append(Leap(began, ended))
            self._faults.windows.append(Window("hours pass", began, ended))
            self._receiver.is_kind = self._load.over.is_set()
        self._guarded(self._look)
        print(
            f"  {self.clock.passed / 3600:g} hours have passed: at rest after {rests - asked:.1f} s,"
            f" quiet after {began - rests:.1f} s more, older after {ended - began:.1f} s",
            file=sys.stderr,
            flush=True,
        )

    def _settle(self) -> None:
        """Until nothing is under way but what waits for hours."""
        end = monotonic() + QUIET_WITHIN
        while monotonic() < end:
            with self._site.postgres.connect("soak") as session:
                session.execute(RETRY_NOW)
                if session.execute(UNDER_WAY).fetchone() == (0,):
                    return
            sleep(0.1)
        raise TimeoutError("deliveries stay under way")

    def _make_older(self) -> None:
        with self._site.postgres.connect("soak") as session:
            self.past = self.past or rows.add_past(session)
            rows.make_older(session, LEAP, {each.name for each in self.past})
            if len(self.clock.leaps) % PER_DAY:
                self.taken += rows.take_furthest(session)

    def _look(self) -> None:
        for due in self.dues:
            due.look(self.clock)

    # Keys

    def _change_key(self) -> None:
        """As docs/operations-run.md has it ("Changing secrets"): three rounds of restarts."""
        old, new = (
            self._site.environment["FIELD_ENCRYPTION_KEYS"],
            urlsafe_b64encode(token_bytes(32)).decode(),
        )
        self._round(f"{old},{new}")
        self._round(f"{new},{old}")
        with self._lock:  # a restore to a moment before would bring the old key back
            self._site.run("manage.py", "reencrypt")
            self._round(new)
            self._site.run("manage.py", "reencrypt")  # fails if something is left that the old key encrypted
        self.has_new_key = True

    def _round(self, keys: str) -> None:
        self._site.environment["FIELD_ENCRYPTION_KEYS"] = keys
        for member in list(self._site.members):
            began, starts = monotonic(), _starts(member)
            self._site.replace(member)
            while (
                member.role == "worker" and _starts(member) == starts and monotonic() < began + READY_WITHIN
            ):
                sleep(0.2)  # so that the other one goes on meanwhile
            window = Window("restart with another key", began, monotonic(), what=member.name)
            self._faults.windows.append(window)
