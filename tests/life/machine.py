"""Lives of an app, made up by Hypothesis: after each step, what is seen by HTTP has to be what the model says."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, precondition, rule

from tests.life.model import BASE, ERASURE, PARTS, SCOPE_OF, Code, Copy, Install, Life
from tests.life.world import World

STEP = timedelta(seconds=11)  # so that a code outlives five of them
FIRST = Copy(frozenset({BASE, "read_reviews"}), "v1", "a", "one")
STORE_OF = {"mira": "mira", "tom": "tom", "kim": "mira"}

stores = st.sampled_from(("mira", "tom", "sam"))
scopes = st.sampled_from(
    (frozenset({BASE}), frozenset({BASE, "read_reviews"}), frozenset({BASE, "read_reviews", "read_pages"}))
)
scripts, widgets = st.sampled_from(("", "a", "a pinned", "b")), st.sampled_from(("", "one", "two"))
named = st.sampled_from((None, frozenset({BASE})))


class Lives(RuleBasedStateMachine):
    world: ClassVar[World]
    codes = Bundle("codes")

    def __init__(self) -> None:
        super().__init__()
        self.is_over = False
        self._life = self.world.one_life()
        self._life.__enter__()
        self.life = Life(FIRST, self.world.now)
        self.review: bool | None = None  # whether what is in review will be released in steps
        self.has_moved = False  # a release, so that it may have reached another store
        self.edits = 1
        self.access: dict[Install, tuple[str, str]] = {}  # id and token
        self.ended: dict[str, str] = {}  # the last token that ended, by store
        self.opened: dict[str, str] = {}  # the version on a page that asks, by store
        self.secret_codes: dict[Code, str] = {}
        for store, found in self.world.installed.items():
            each = (
                self.life.test_install()
                if store == "sam"
                else self.life.exchange(self.life.consent(store, store, None))
            )
            assert isinstance(each, Install)
            self._has(each, found)

    def teardown(self) -> None:
        """At the end, all stores are looked at."""
        try:
            if not self.is_over:
                with self.step():
                    pass
        finally:
            self._life.__exit__(None, None, None)

    @contextmanager
    def step(self, store: str = "", *, sends: bool = True, app: bool = False) -> Iterator[tuple[World, Life]]:
        """Somebody does something; then workers work, and what is seen is compared. It may concern one `store` only."""
        try:
            yield self.world, self.life
            self._look(store, sends=sends, app=app)
        except AssertionError:
            self.is_over = True
            raise

    def _look(self, store: str, *, sends: bool, app: bool) -> None:
        self.world.wait(STEP)
        self.life.now = self.world.now
        got = self.world.work(sends=sends)
        if self.has_moved:
            self._learn()
            self.has_moved = False
        if sends:
            arrived = [(store, event, "" if event == ERASURE else path) for store, event, path in got]
            arrived, expected = sorted(arrived), self.life.deliver()
            assert arrived == expected, f"deliveries, seen and expected: {arrived}, {expected}"
        if app:
            self._compare_app()
        for name in (store,) if store else ("mira", "tom", "sam"):
            self._compare(name)

    # What is compared

    def _learn(self) -> None:
        """Which stores a step of a release has reached is the platform's choice; how many isn't."""
        life = self.life
        if life.state != "ROLLING":
            return
        left = [each for each in life.active() if not each.is_own]
        outside = [each for each in left if not life.is_in(each)]
        came = {each.store for each in outside if self._url(each) == life.newest.copy.url}
        assert len(came) <= 1, "one store at a time, of two"
        life.come_in(came)
        assert not left or any(life.is_in(each) for each in left), "at least one store is in"

    def _url(self, each: Install) -> str:
        answer = self.world.call(self.access[each][1], "/webhooks")
        assert answer.status_code == 200, answer.content
        (webhook,) = answer.json()["data"]
        return str(webhook["url"].rpartition("/")[2])

    def _compare_app(self) -> None:
        life = self.life
        expected = {
            "status": "PENDING_REVIEW" if self.review is not None else life.status,
            "listed": not life.is_suspended,
            "approved scopes": life.listed.copy.scopes,
            "release": (life.state, life.percent),
        }
        seen = self.world.app_as_seen()
        assert seen == expected, f"the app, seen and expected: {seen}, {expected}"

    def _compare(self, store: str) -> None:
        each = self.life.on(store)
        if store in self.ended:
            assert self.world.call(self.ended[store], "/app-api/installation").status_code == 401, store
        seen: dict[str, Any] = self.world.shows(store)
        expected: dict[str, Any] = {part: self.life.shows(each, part) if each else "" for part in seen}
        if store == "sam":
            seen["app"] = self.world.developer("sam", "get", self.world.app).status_code
            expected["app"] = 200 if self.life.sams_role else 404
        if each:
            seen |= self._seen(each)
            expected |= self._expected(each)
        differ = {name: (seen.get(name), expected.get(name)) for name in seen | expected}
        differ = {name: pair for name, pair in differ.items() if pair[0] != pair[1]}
        assert not differ, f"{store}, seen and expected: {differ}"

    def _seen(self, each: Install) -> dict[str, Any]:
        world, (pk, token) = self.world, self.access[each]
        answer = world.call(token, "/app-api/installation")
        seen = {
            "status": answer.status_code,
            "reviews": world.call(token, "/app-api/reviews/stats").status_code,
        }
        if answer.status_code == 200:
            found = answer.json()
            seen |= {
                "id": found["installationId"],
                "test": found["isTestInstall"],
                "scopes": set(found["scopes"]),
                "asked": found["needsReConsent"],
                "url": self._url(each),
            }
        if not self.life.is_suspended and not each.is_test:
            seen["question"] = bool(world.question(each.store, pk))
        return seen

    def _expected(self, each: Install) -> dict[str, Any]:
        life, status, can = self.life, self.life.answers(each), self.life.scopes(each)
        expected = {
            "status": status,
            "reviews": 403 if status == 200 and "read_reviews" not in can else status,
        }
        if status == 200:
            expected |= {
                "id": self.access[each][0],
                "test": each.is_test,
                "scopes": can,
                "asked": each.is_asked,
                "url": life.url(each),
            }
        if not life.is_suspended and not each.is_test:
            expected["question"] = life.has_question(each)
        return expected

    # Merchants install

    @rule(target=codes, person=st.sampled_from(("mira", "tom", "kim")), named=named)
    def consent(self, person: str, named: frozenset[str] | None) -> Code | None:
        with self.step(STORE_OF[person]):
            return self._consent(person, named)

    @rule(person=st.sampled_from(("mira", "tom")), named=named)
    def install(self, person: str, named: frozenset[str] | None) -> None:
        """Or agree once more."""
        with self.step(STORE_OF[person]):
            if code := self._consent(person, named):
                self._exchange(code)

    def _consent(self, person: str, named: frozenset[str] | None) -> Code | None:
        store = STORE_OF[person]
        found = self.world.consent(person, store, named)
        may = not self.life.is_suspended and (person != "kim" or self.life.has_kim)
        assert bool(found) == may, "the consent page"
        if not may:
            return None
        code = self.life.consent(store, person, named)
        self.secret_codes[code] = found
        return code

    @rule(code=codes)
    def exchange(self, code: Code | None) -> None:
        if code:
            with self.step(code.store):
                self._exchange(code)

    def _exchange(self, code: Code) -> None:
        answer, expected = self.world.exchange(self.secret_codes[code]), self.life.exchange(code)
        if isinstance(expected, int):
            assert answer.status_code == expected, answer.content
            return
        assert answer.status_code == 200, answer.content
        found = answer.json()
        self._has(expected, (found["installationId"], found["access_token"], found["webhookSecret"]))

    def _has(self, each: Install, found: tuple[str, str, str]) -> None:
        pk, token, secret = found
        if each in self.access:
            assert pk == self.access[each][0], "the same installation"
            assert secret in self.world.secrets[each.store], "the same secret"
            self.ended[each.store] = self.access[each][1]
        else:
            assert pk not in [known for known, _ in self.access.values()], "a new installation"
            assert secret not in self.world.secrets[each.store], "a new secret"
        self.access[each] = pk, token
        self.world.secrets[each.store].add(secret)

    # And what they do with what they have

    @rule(store=stores, by_app=st.booleans())
    def uninstall(self, store: str, by_app: bool) -> None:
        each = self.life.on(store)
        if each is None:
            return
        with self.step(store) as (world, life):
            pk, token = self.access[each]
            if by_app and not life.is_suspended and each.has_token:
                assert world.revoke(token) == 200
            else:
                assert world.press(store, pk, "uninstall").status_code == 302
            life.uninstall(each)
            self.ended[store] = token

    @rule(store=stores)
    def pause(self, store: str) -> None:
        """Or resume."""
        each = self.life.on(store)
        if each is None:
            return
        with self.step(store) as (world, life):
            button = "resume" if each.is_paused else "pause"
            assert world.press(store, self.access[each][0], button).status_code == 302
            (life.resume if each.is_paused else life.pause)(each)

    @precondition(lambda self: not self.life.is_suspended)
    @rule(store=stores, part=st.sampled_from(PARTS))
    def switch(self, store: str, part: str) -> None:
        each = self.life.on(store)
        if each is None:
            return
        with self.step(store) as (world, life):
            has_switch = world.switch(store, self.access[each][0], part)
            assert has_switch == bool(life.runs(each, part)), "the switches"
            if has_switch:
                life.switch(each, part)

    @rule(store=stores)
    def open_question(self, store: str) -> None:
        each = self.life.on(store)
        if (
            each
            and not self.life.is_suspended
            and (shown := self.world.question(store, self.access[each][0]))
        ):
            self.opened[store] = shown

    @precondition(lambda self: not self.life.is_suspended)
    @rule(store=stores, yes=st.booleans())
    def answer(self, store: str, yes: bool) -> None:
        """On a page that was opened before, or now."""
        each = self.life.on(store)
        if each is None or each.is_test or not self.life.has_question(each):
            return
        with self.step(store) as (world, life):
            pk = self.access[each][0]
            version = self.opened.pop(store, "") or world.question(store, pk)
            fields = {"answer": "approve" if yes else "decline", "version": version}
            assert world.press(store, pk, "permissions", fields).status_code == 302
            if version == str(life.version_of(each).number):
                life.answer(each, yes=yes)

    # Dana and Rita

    def _edit(self, scopes: frozenset[str]) -> None:
        url = f"v{self.edits + 1}"
        status = self.world.edit(scopes, url)
        assert status == (200 if self.review is None else 409), "an edit"
        if self.review is None:
            self.edits += 1
            self.life.edit(scopes, url)

    @rule(script=scripts, widget=widgets)
    def save(self, script: str, widget: str) -> None:
        with self.step():
            self._save(script, widget)

    def _save(self, script: str, widget: str) -> None:
        is_open = self.review is None and not self.life.is_suspended
        assert self.world.save(script, widget) == (200 if is_open else 409), "a save"
        if is_open:
            self.life.save(script, widget)

    @rule(scopes=scopes, in_steps=st.booleans())
    def submit(self, scopes: frozenset[str], in_steps: bool) -> None:
        with self.step(app=True):
            self._edit(scopes)
            self._submit(in_steps)

    def _submit(self, in_steps: bool) -> bool:
        can = self.review is None and self.life.can_submit
        assert self.world.submit(steps=in_steps) == (201 if can else 409), "a submission"
        if can:
            self.review = in_steps
        return can

    @precondition(lambda self: self.review is not None and self._can_be_seen())
    @rule(approved=st.booleans())
    def decide(self, approved: bool) -> None:
        with self.step(app=True):
            self._decide(approved)

    def _decide(self, approved: bool) -> None:
        assert self.review is not None
        if approved:
            first, url = self.life.on("mira"), self.life.working.url
            is_first = self.review and first and not self.life.is_suspended
            self.world.approve_until(lambda: not is_first or self._url(first) == url)
            self.life.approve(steps=self.review)
            self.has_moved = True
        else:
            self.world.decide("reject")
            self.life.status = "DRAFT"
        self.review = None

    @precondition(lambda self: self.life.rolling is None and self._can_be_seen())
    @rule(scopes=scopes, in_steps=st.booleans())
    def version_with_scopes(self, scopes: frozenset[str], in_steps: bool) -> None:
        with self.step(app=True):
            self._edit(scopes)
            if self._submit(in_steps):
                self._decide(approved=True)

    @precondition(lambda self: self.life.rolling is None and self._can_be_seen())
    @rule(script=scripts, widget=widgets, in_steps=st.booleans())
    def version_with_parts(self, script: str, widget: str, in_steps: bool) -> None:
        with self.step(app=True):
            self._edit(self.life.working.scopes)
            self._save(script, widget)
            if self._submit(in_steps):
                self._decide(approved=True)

    def _can_be_seen(self) -> bool:
        """Whether the app's calls tell which stores a release reaches."""
        return all(each.has_token and not each.is_paused for each in self.life.active())

    @precondition(lambda self: len(self.life.versions) > 1 and self._can_be_seen())
    @rule(action=st.sampled_from(("advance", "halt", "resume", "back")))
    def move_release(self, action: str) -> None:
        with self.step(app=True) as (world, life):
            can = life.can_move(action)
            assert world.move_release(action) == (200 if can else 409), f"release/{action}"
            if can:
                life.move_release(action)
                self.has_moved = True

    @rule()
    def suspend(self) -> None:
        """Or lift the suspension."""
        with self.step(app=True) as (world, life):
            if life.is_suspended:
                world.lift_suspension()
                life.lift()
            else:
                world.suspend()
                life.suspend()

    # People come and go

    @rule()
    def test_install(self) -> None:
        with self.step("sam") as (world, life):
            answer, expected = world.test_install(), life.test_install()
            if isinstance(expected, int):
                assert answer.status_code == expected, answer.content
                return
            found = answer.json()
            self._has(expected, (found["installationId"], found["accessToken"], found["webhookSecret"]))

    @rule(role=st.sampled_from(("", "VIEWER", "DEVELOPER")))
    def sam_becomes(self, role: str) -> None:
        if role == self.life.sams_role or (role == "VIEWER" and not self.life.sams_role):
            return
        with self.step("sam") as (world, life):
            if not life.sams_role:
                assert world.sam_joins() == 201
            else:
                assert world.sam_changes(role) in (200, 204)
            if role != "DEVELOPER" and (each := life.on("sam")):
                self.ended["sam"] = self.access[each][1]
            life.sam_becomes(role)

    @precondition(lambda self: self.life.has_kim)
    @rule()
    def kim_leaves(self) -> None:
        with self.step("mira") as (world, life):
            world.kim_leaves()
            life.has_kim = False

    # Time

    @rule(store=stores, event=st.sampled_from(tuple(SCOPE_OF)), sends=st.booleans())
    def happens(self, store: str, event: str, sends: bool) -> None:
        """Without `sends`, workers come to it at the next step only."""
        with self.step(store, sends=sends) as (world, life):
            world.happens(store, event)
            life.happens(store, event)

    @rule()
    def two_days_pass(self) -> None:
        with self.step() as (world, _):
            world.wait(timedelta(hours=48))
