"""Lives of an app, made up by Hypothesis: after each step, what is seen by HTTP has to be what the model says.

A life is about one part of the contract, or about all, and mostly about one store: what only happens together with something else
happens more often so.
"""

from collections.abc import Iterable
from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize

from tests.life.choices import (
    ABOUT,
    LONGEST,
    STORE_OF,
    WHEN,
    Step,
    action,
    any_store,
    in_steps,
    lengths,
    moves,
    named,
    names_of,
    near,
    newest_codes,
    scopes,
    scripts,
    that_asks,
    widgets,
    with_app,
)
from tests.life.looks import STORES, Looks
from tests.life.model import PARTS, SCOPE_OF, Code, Install


class Lives(Looks):
    def __init__(self) -> None:
        super().__init__()
        self.about, self.length = "", LONGEST
        self.steps: list[Step] = []
        self.edits = 1
        self.opened: dict[str, str] = {}  # the version on a page that asks, by store
        self.codes: list[tuple[Code, str]] = []

    @initialize(
        about=st.sampled_from(ABOUT),
        home=st.sampled_from(STORES),
        length=lengths,
        hurries=st.booleans(),
    )
    def begin(self, about: str, home: str, length: int, hurries: bool) -> None:
        self.about, self.home, self.length, self.hurries = about, home, length, hurries

    def play(self, steps: Iterable[Step]) -> None:
        """Do these instead, and leave out what may not be done."""
        for name, *values in steps:
            if WHEN[name](self):
                act = getattr(type(self), name)
                act(self, **dict(zip(names_of(act), values, strict=True)))

    def is_about(self, parts: str) -> bool:
        return self.about in ("", *parts.split())

    def has_app(self) -> bool:
        return any(self.life.active())

    def is_asked(self, each: Install) -> bool:
        return not each.is_test and self.life.has_question(each)

    def can_answer(self) -> bool:
        return not self.life.is_suspended and any(self.is_asked(each) for each in self.life.active())

    def can_release(self) -> bool:
        return self.review is None and self.life.rolling is None and self.can_be_seen()

    def can_be_seen(self) -> bool:
        """Whether the app's calls tell which stores a release reaches."""
        return all(each.has_token and not each.is_paused for each in self.life.active())

    # Merchants install

    @action(
        "installs people",
        person=near(lambda _: STORE_OF),
        named=named,
    )
    def consent(self, person: str, named: frozenset[str] | None) -> None:
        with self.step(STORE_OF[person]):
            self._consent(person, named)

    @action(
        "installs releases events",
        person=near(lambda _: ("mira", "tom")),
        named=named,
    )
    def install(self, person: str, named: frozenset[str] | None) -> None:
        """Or agree once more."""
        with self.step(STORE_OF[person]):
            if self._consent(person, named):
                self._exchange(*self.codes[-1])

    def _consent(self, person: str, named: frozenset[str] | None) -> bool:
        store = STORE_OF[person]
        found = self.world.consent(person, store, named)
        may = not self.life.is_suspended and (person != "kim" or self.life.has_kim)
        assert bool(found) == may, "the consent page"
        if may:
            self.codes.append((self.life.consent(store, person, named), found))
        return may

    @action("installs people", when=lambda self: self.codes, nth=newest_codes)
    def exchange(self, nth: int) -> None:
        """The newest code, or one of those before it, whether it has been exchanged or not."""
        code, secret = self.codes[max(-nth - 1, -len(self.codes))]
        with self.step(code.store):
            self._exchange(code, secret)

    def _exchange(self, code: Code, secret: str) -> None:
        answer, expected = self.world.exchange(secret), self.life.exchange(code)
        if isinstance(expected, int):
            assert answer.status_code == expected, answer.content
            return
        assert answer.status_code == 200, answer.content
        found = answer.json()
        self._has(expected, (found["installationId"], found["access_token"], found["webhookSecret"]))

    # And what they do with what they have

    @action("installs events", when=has_app, store=with_app, by_app=st.booleans())
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

    @action("events", when=has_app, store=with_app)
    def pause(self, store: str) -> None:
        """Or resume."""
        each = self.life.on(store)
        if each is None:
            return
        with self.step(store) as (world, life):
            button = "resume" if each.is_paused else "pause"
            assert world.press(store, self.access[each][0], button).status_code == 302
            (life.resume if each.is_paused else life.pause)(each)

    @action(
        "releases",
        when=lambda self: self.has_app() and not self.life.is_suspended,
        store=with_app,
        part=st.sampled_from(PARTS),
    )
    def switch(self, store: str, part: str) -> None:
        each = self.life.on(store)
        if each is None:
            return
        with self.step(store) as (world, life):
            has_switch = world.switch(store, self.access[each][0], part)
            assert has_switch == bool(life.runs(each, part)), "the switches"
            if has_switch:
                life.switch(each, part)

    @action("releases", when=can_answer, store=that_asks)
    def open_question(self, store: str) -> None:
        if each := self.life.on(store):
            self.opened[store] = self.world.question(store, self.access[each][0])

    @action("releases", when=can_answer, store=that_asks, yes=st.booleans())
    def answer(self, store: str, yes: bool) -> None:
        """On a page that was opened before, or now."""
        each = self.life.on(store)
        if each is None or not self.is_asked(each):
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

    @action("releases", script=scripts, widget=widgets)
    def save(self, script: str, widget: str) -> None:
        with self.step():
            self._save(script, widget)

    def _save(self, script: str, widget: str) -> None:
        is_open = self.review is None and not self.life.is_suspended
        assert self.world.save(script, widget) == (200 if is_open else 409), "a save"
        if is_open:
            self.life.save(script, widget)

    @action("people", scopes=scopes, in_steps=in_steps)
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

    @action(
        "people",
        when=lambda self: self.review is not None and self.can_be_seen(),
        approved=st.booleans(),
    )
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

    @action("releases events people", when=can_release, scopes=scopes, in_steps=in_steps)
    def version_with_scopes(self, scopes: frozenset[str], in_steps: bool) -> None:
        with self.step(app=True):
            self._edit(scopes)
            if self._submit(in_steps):
                self._decide(approved=True)

    @action("releases", when=can_release, script=scripts, widget=widgets, in_steps=in_steps)
    def version_with_parts(self, script: str, widget: str, in_steps: bool) -> None:
        with self.step(app=True):
            self._edit(self.life.working.scopes)
            self._save(script, widget)
            if self._submit(in_steps):
                self._decide(approved=True)

    @action(
        "releases events",
        when=lambda self: len(self.life.versions) > 1 and self.can_be_seen(),
        move=moves,
    )
    def move_release(self, move: str) -> None:
        with self.step(app=True) as (world, life):
            can = life.can_move(move)
            assert world.move_release(move) == (200 if can else 409), f"release/{move}"
            if can:
                life.move_release(move)
                self.has_moved = True

    @action("releases events")
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

    @action("people installs")
    def test_install(self) -> None:
        with self.step("sam") as (world, life):
            answer, expected = world.test_install(), life.test_install()
            if isinstance(expected, int):
                assert answer.status_code == expected, answer.content
                return
            found = answer.json()
            self._has(expected, (found["installationId"], found["accessToken"], found["webhookSecret"]))

    @action("people", role=st.sampled_from(("", "VIEWER", "DEVELOPER")))
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

    @action("installs people", when=lambda self: self.life.has_kim)
    def kim_leaves(self) -> None:
        with self.step("mira") as (world, life):
            world.kim_leaves()
            life.has_kim = False

    # Time

    @action("events")
    def workers_leave(self) -> None:
        """Or come back: then what waits is sent."""
        self.has_workers = not self.has_workers
        with self.step():
            pass

    @action("events", store=any_store, event=st.sampled_from(tuple(SCOPE_OF)))
    def happens(self, store: str, event: str) -> None:
        with self.step(store) as (world, life):
            world.happens(store, event)
            life.happens(store, event)

    @action("installs events")
    def two_days_pass(self) -> None:
        with self.step() as (world, _):
            world.wait(timedelta(hours=48))
