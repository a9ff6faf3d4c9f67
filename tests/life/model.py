"""What the contract says about one app in three stores (sections 2, 3, 5, 6 and 11), as a model in memory.

Written from docs/contract.md and the guides. It asks nothing of the product: `tests.life.machine` does, and compares.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

BASE = "read_products"
SCOPE_OF = {"product.updated": BASE, "review.created": "read_reviews"}
PARTS = ("script", "widget")
ERASURE = "business.data_erasure"
UPDATED = "installation.updated"  # needs no scope, and is sent although the app is paused
ERASED_AFTER = timedelta(hours=48)
CODE_LASTS = timedelta(seconds=60)
AT_ONCE = timedelta(seconds=10)  # exchanges of one code that count as simultaneous


class Copy(NamedTuple):
    """What a working copy or an approved version says. An empty part isn't in the manifest."""

    scopes: frozenset[str]
    url: str  # of webhooks; each edit has its own
    script: str = ""  # its address; with " pinned" it has an `integrity`
    widget: str = ""  # the path of its frame

    def covers(self, part: str, form: str) -> bool:
        """Whether a form of a part stays within the reach of this version (section 2, "Reach")."""
        approved: str = getattr(self, part)
        if part == "widget":  # another path of a frame widens nothing
            return bool(approved)
        return bool(approved) and form in (approved, f"{approved} pinned")


@dataclass(eq=False)
class Version:
    number: int
    copy: Copy


@dataclass(eq=False)
class Code:
    """A consent. `is_named`: the app named these scopes."""

    store: str
    person: str
    scopes: frozenset[str]
    is_named: bool
    version: Version
    number: int
    at: datetime
    in_force: bool = False
    used_at: datetime | None = None


@dataclass(eq=False)
class Install:
    store: str
    is_own: bool  # on the sandbox of one of the app's developers
    is_test: bool
    granted: frozenset[str]
    agreed: Version | None
    follows: Version | None  # the approved version that it came to last
    consent: int  # the number of the newest one
    before: Version | None = None  # what it had agreed to before it came to that version
    left_out: frozenset[str] = frozenset()  # offered at the consent, and not named
    lost: dict[Version, frozenset[str]] = field(default_factory=dict)  # to versions that don't have them
    is_asked: bool = False  # for scopes
    is_paused: bool = False
    off: set[str] = field(default_factory=set)  # parts that are switched off
    has_token: bool = True
    token_of: Code | None = None
    waiting: list[str] = field(default_factory=list)  # events to be sent
    held: list[str] = field(default_factory=list)
    ended_at: datetime | None = None
    owes_erasure: bool = False


class Life:
    """Each method is something that people do; its result is what they get: True, or the status of a refusal."""

    def __init__(self, first: Copy, now: datetime) -> None:
        self.now = now
        self.working, self.status = first, "APPROVED"
        self.versions = [Version(1, first)]
        self.listed = self.versions[0]
        self.rolling: Version | None = None
        self.earlier: Version | None = None  # than the newest
        self.state, self.percent = "COMPLETE", 100
        self.is_suspended = False
        self.stale: set[str] = set()  # parts that weren't changed since a version was taken back
        self.installs: list[Install] = []
        self.sams_role = "DEVELOPER"
        self.has_kim = True
        self.consents = 0

    # What can be seen

    @property
    def newest(self) -> Version:
        return self.rolling or self.listed

    def active(self) -> Iterator[Install]:
        return (each for each in self.installs if each.ended_at is None)

    def on(self, store: str) -> Install | None:
        return next((each for each in self.active() if each.store == store), None)

    def is_in(self, each: Install) -> bool:
        """Whether an open release has reached the store."""
        return self.rolling is not None and each.follows is self.rolling

    def version_of(self, each: Install) -> Version:
        if self.rolling is None or self.is_in(each):
            return self.newest
        assert self.earlier
        return self.earlier

    def offered(self, each: Install) -> frozenset[str]:
        """What its merchant may grant. A scope that the newest version doesn't have is lost everywhere."""
        return self.version_of(each).copy.scopes & self.newest.copy.scopes

    def lacking(self, each: Install) -> frozenset[str]:
        return self.offered(each) - each.granted - each.left_out

    def scopes(self, each: Install) -> frozenset[str]:
        return self.working.scopes if each.is_test else each.granted & self.version_of(each).copy.scopes

    def url(self, each: Install) -> str:
        return self.working.url if each.is_test else self.version_of(each).copy.url

    def answers(self, each: Install) -> int:
        """The status of a call that its scopes allow."""
        if each.ended_at or not each.has_token or self.is_suspended:
            return 401
        return 403 if each.is_paused else 200

    def shows(self, each: Install, part: str) -> str:
        """The form of a part that is on the store's pages."""
        off = self.is_suspended or each.is_paused or part in each.off
        return "" if off else self.runs(each, part)

    def runs(self, each: Install, part: str) -> str:
        """As it was saved, as its version was approved, or as the store agreed: the first that it agreed to."""
        if each.is_own:
            return str(getattr(self.working, part))
        assert each.agreed
        newest, approved = self._newest(each, part), getattr(self.version_of(each).copy, part)
        forms = (newest, approved, getattr(each.agreed.copy, part))
        return next((form for form in forms if newest and form and each.agreed.copy.covers(part, form)), "")

    def _newest(self, each: Install, part: str) -> str:
        """What would run after a yes. A save runs at once if it stays within the reach of the version, or removes the part."""
        saved: str = getattr(self.working, part)
        version = self.version_of(each).copy
        is_live = part not in self.stale and (not saved or version.covers(part, saved))
        return saved if is_live else str(getattr(version, part))

    def asks_reach(self, each: Install) -> bool:
        if each.is_own:
            return False
        assert each.agreed
        newest = {part: self._newest(each, part) for part in PARTS}
        return any(form and not each.agreed.copy.covers(part, form) for part, form in newest.items())

    def has_question(self, each: Install) -> bool:
        return each.is_asked or self.asks_reach(each)

    # The developer and the reviewer

    def edit(self, scopes: frozenset[str], url: str) -> None:
        self.working = self.working._replace(scopes=scopes, url=url)
        self.status = "DRAFT"

    def save(self, script: str, widget: str) -> bool:
        """False: a suspended app's manifest is locked."""
        if self.is_suspended:
            return False
        saved = self.working._replace(script=script, widget=widget)
        self.stale -= {part for part in PARTS if getattr(saved, part) != getattr(self.working, part)}
        self.working = saved
        return True

    @property
    def can_submit(self) -> bool:
        if self.rolling is not None:
            return False
        return self.status == "DRAFT" or self.working != self.listed.copy

    def approve(self, *, steps: bool) -> None:
        """If it rolls, one store is in: `come_in` says which."""
        stores = [each for each in self.active() if not each.is_test and not each.is_own]
        tests = [each for each in self.active() if each.is_test]
        version = Version(len(self.versions) + 1, self.working)
        self.versions.append(version)
        self.status, self.earlier = "APPROVED", self.listed
        self.listed, self.state, self.percent = version, "COMPLETE", 100
        if steps and stores:
            self.rolling, self.state, self.percent = version, "ROLLING", 1
            if self.is_suspended:
                self._halt()
        self._follow()
        for each in tests:
            scopes = self.version_of(each).copy.scopes
            each.is_test, each.granted, each.left_out, each.is_asked = False, scopes, frozenset(), False

    def come_in(self, stores: set[str]) -> None:
        for each in self.active():
            if each.store in stores:
                self._come_to(each, self.newest)
                self._adapt(each)

    def _come_to(self, each: Install, version: Version) -> None:
        if each.follows is not version:
            each.before, each.follows = each.agreed, version

    def _follow(self) -> None:
        for each in self.active():
            if self.rolling is None or (each.is_own and self.state == "ROLLING"):
                self._come_to(each, self.newest)
            self._adapt(each)

    def _adapt(self, each: Install) -> None:
        """A production install loses what its version doesn't have, and is asked for what it lacks."""
        if not each.is_test:
            lost = each.granted - self.offered(each)
            if lost:
                each.lost[self.newest] = each.lost.get(self.newest, frozenset()) | lost
            each.granted -= lost
            if self.rolling is None or self.is_in(each):
                each.is_asked = bool(self.lacking(each))
            else:
                each.is_asked = each.is_asked and bool(self.lacking(each))
        if not each.is_own and (self.rolling is None or self.is_in(each)) and not self.asks_reach(each):
            each.agreed = self.version_of(each)

    def can_move(self, action: str) -> bool:
        return {
            "advance": self.state == "ROLLING",
            "halt": self.state == "ROLLING",
            "resume": self.state == "HALTED" and not self.is_suspended,
            "back": self.state != "TAKEN_BACK" and self.earlier is not None,
        }[action]

    def move_release(self, action: str) -> None:
        {"advance": self._advance, "halt": self._halt, "resume": self._resume, "back": self._back}[action]()

    def _advance(self) -> None:
        self.percent = {1: 5, 5: 25, 25: 100}[self.percent]
        if self.percent == 100:
            self.state, self.rolling = "COMPLETE", None
        self._follow()

    def _halt(self) -> None:
        assert self.earlier
        self.state, self.listed = "HALTED", self.earlier

    def _resume(self) -> None:
        assert self.rolling
        self.state, self.listed = "ROLLING", self.rolling
        self._follow()

    def _back(self) -> None:
        """Every store runs the version before, with what it had agreed to and the scopes that it had lost."""
        taken = self.newest
        assert self.earlier
        self.state, self.rolling, self.listed = "TAKEN_BACK", None, self.earlier
        self.stale = set(PARTS)
        for each in self.active():
            if each.follows is taken:
                each.agreed = each.before or each.agreed
            each.granted |= each.lost.pop(taken, frozenset()) & self.listed.copy.scopes
        self._follow()

    def suspend(self) -> None:
        self.is_suspended = True
        if self.state == "ROLLING":
            self._halt()
        for each in self.active():
            each.waiting, each.held = [], []

    def lift(self) -> None:
        self.is_suspended = False

    # Merchants, and the app

    def consent(self, store: str, person: str, named: frozenset[str] | None) -> Code:
        offered = self.listed.copy.scopes
        scopes = offered if named is None else named & offered
        self.consents += 1
        code = Code(store, person, scopes, named is not None, self.listed, self.consents, self.now)
        if each := self.on(store):
            with self._told(each):
                self._agree(each, code)
            code.in_force = True
        return code

    def _agree(self, each: Install, code: Code) -> None:
        if self.state == "ROLLING" and code.version is self.rolling:
            self._come_to(each, self.rolling)
        granted, agreed = code.scopes & self.listed.copy.scopes, code.version
        if self.is_in(each) and code.version is not self.rolling:  # halted: besides what it runs already
            granted |= frozenset() if code.is_named else each.granted
            agreed = self.rolling if each.agreed is self.rolling else agreed
        each.granted, each.agreed, each.consent = granted, agreed, code.number
        each.left_out = code.version.copy.scopes - code.scopes
        each.is_asked, each.lost = bool(self.lacking(each)), {}

    def exchange(self, code: Code) -> Install | int:
        if self.is_suspended:
            return 401
        ended = any(
            each.ended_at and each.ended_at >= code.at for each in self.installs if each.store == code.store
        )
        each = self.on(code.store)
        if code.used_at:
            if self.now - code.used_at > AT_ONCE and each and each.token_of is code:
                each.has_token = False
            return 400
        left = code.person == "kim" and not self.has_kim
        if self.now - code.at > CODE_LASTS or left or ended:
            return 400
        code.used_at = self.now
        if each is None:
            each = Install(code.store, False, False, frozenset(), None, self.listed, 0)
            self._install(each)
        if code.number > each.consent:
            self._agree(each, code)
        each.has_token, each.token_of = True, code
        return each

    def _install(self, each: Install) -> None:
        for former in self.installs:
            if former.store == each.store:
                former.owes_erasure = False
        self.installs.append(each)

    def answer(self, each: Install, *, yes: bool) -> None:
        """The answer to the question on the merchant's page, which shows the version that the store runs."""
        if not yes:
            return
        with self._told(each):
            each.granted = self.scopes(each) | (self.lacking(each) if each.is_asked else frozenset())
            each.left_out = self.offered(each) - each.granted
            each.agreed = None if each.is_own else self.version_of(each)
            self.consents += 1
            each.consent, each.is_asked, each.lost = self.consents, False, {}

    def pause(self, each: Install) -> None:
        with self._told(each):
            each.is_paused = True
            each.held, each.waiting = [*each.held, *each.waiting], []

    def resume(self, each: Install) -> None:
        with self._told(each):
            each.is_paused = False
            each.waiting, each.held = [*each.waiting, *each.held], []

    def switch(self, each: Install, part: str) -> None:
        with self._told(each):
            each.off ^= {part}

    @contextmanager
    def _told(self, each: Install) -> Iterator[None]:
        """The app learns what its merchant changed of it here (section 23, "Settings")."""
        before = self._choices(each)
        yield
        if self._choices(each) != before and not self.is_suspended:
            each.waiting.append(UPDATED)

    def _choices(self, each: Install) -> tuple[object, ...]:
        switches = {part: part not in each.off for part in PARTS if self.runs(each, part)}
        return self.scopes(each), each.is_paused, switches

    def uninstall(self, each: Install) -> None:
        each.ended_at, each.owes_erasure = self.now, True
        each.waiting, each.held = [], []

    # The developer on the sandbox

    def test_install(self) -> Install | int:
        if self.sams_role != "DEVELOPER":
            return 403 if self.sams_role == "VIEWER" else 404
        if self.is_suspended:
            return 409
        each = self.on("sam")
        if each is None:
            each = Install("sam", True, True, frozenset(), None, self.listed, 0)
            self._install(each)
        each.is_test, each.is_asked, each.has_token, each.lost = True, False, True, {}
        each.granted, each.left_out = self.working.scopes, frozenset()
        return each

    def sam_becomes(self, role: str) -> None:
        self.sams_role = role
        if role != "DEVELOPER" and (each := self.on("sam")):
            self.uninstall(each)

    # What is sent

    def happens(self, store: str, event: str) -> None:
        each = self.on(store)
        if each and not self.is_suspended and SCOPE_OF[event] in self.scopes(each):
            (each.held if each.is_paused else each.waiting).append(event)

    def deliver(self) -> list[tuple[str, str, str]]:
        """What arrives now: store, event, and the path that it is sent to (of an erasure it doesn't matter)."""
        found = []
        for each in self.installs:
            may = [
                event for event in each.waiting if event == UPDATED or SCOPE_OF[event] in self.scopes(each)
            ]
            found += [(each.store, event, self.url(each)) for event in may]
            each.waiting = []
            if each.owes_erasure and each.ended_at and self.now >= each.ended_at + ERASED_AFTER:
                each.owes_erasure = False
                found.append((each.store, ERASURE, ""))
        return sorted(found)
