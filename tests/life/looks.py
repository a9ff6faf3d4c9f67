"""What is seen of a life by HTTP, compared with the model after each step."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, ClassVar

from hypothesis.stateful import RuleBasedStateMachine

from tests.life.model import BASE, ERASURE, Copy, Install, Life
from tests.life.world import World

STEP = timedelta(seconds=11)  # so that a code outlives five of them
FIRST = Copy(frozenset({BASE, "read_reviews"}), "v1", "a", "one")
STORES = ("mira", "tom", "sam")


class Looks(RuleBasedStateMachine):
    """A life that begins with the app in all stores.

    After each step, the store `home` is looked at, and the one that the step concerns. If it `hurries`, only deliveries are. At the
    end, those of `last` are.
    """

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.home, self.hurries, self.last = "mira", False, STORES
        self.is_over, self.has_workers = False, True
        self._life = self.world.one_life()
        self._life.__enter__()
        self.life = Life(FIRST, self.world.now)
        self.review: bool | None = None  # whether what is in review will be released in steps
        self.has_moved = False  # a release, so that it may have reached another store
        self.access: dict[Install, tuple[str, str]] = {}  # id and token
        self.ended: dict[str, str] = {}  # the last token that ended, by store
        for store, found in self.world.installed.items():
            each = (
                self.life.test_install()
                if store == "sam"
                else self.life.exchange(self.life.consent(store, store, None))
            )
            assert isinstance(each, Install)
            self._has(each, found)

    def teardown(self) -> None:
        try:
            if not self.is_over:
                self.has_workers = True
                with self.step():
                    self._compare(*self.last, app=True)
        finally:
            self._life.__exit__(None, None, None)

    @contextmanager
    def step(self, store: str = "", *, app: bool = False) -> Iterator[tuple[World, Life]]:
        """Somebody does something; then workers work, and what is seen is compared, in the `store` that it concerns."""
        try:
            yield self.world, self.life
            self._look(store, app=app)
        except Exception:
            self.is_over = True
            raise

    def _look(self, store: str, *, app: bool) -> None:
        self.world.wait(STEP)
        self.life.now = self.world.now
        got = self.world.work(sends=self.has_workers)
        if self.has_moved:
            self._learn()
            self.has_moved = False
        if self.has_workers:
            arrived = [(store, event, "" if event == ERASURE else path) for store, event, path in got]
            arrived, expected = sorted(arrived), self.life.deliver()
            assert arrived == expected, f"deliveries, seen and expected: {arrived}, {expected}"
        if not self.hurries:
            self._compare(*dict.fromkeys((self.home, store or self.home)), app=app)

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

    def _compare(self, *stores: str, app: bool) -> None:
        if app:
            self._compare_app()
        for store in stores:
            self._compare_store(store)

    def _compare_store(self, store: str) -> None:
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
