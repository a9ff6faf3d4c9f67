"""Short lives of one store, the shortest first: a few actions in any order, until the model is where it has been before.

Hypothesis rarely makes up the three or four actions in a row that some rules need. Here each part of the contract has few actions with
few values, so that all lives of three or four of them take less than a minute.
"""

from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from tests.life.choices import WHEN, Step
from tests.life.machine import Lives
from tests.life.model import BASE

P = frozenset({BASE})
G = P | {"read_reviews", "read_pages"}
STORE = "mira"
HOME = {"developers": "sam"}  # where another store is looked at
GONE = (("uninstall", STORE, False),)
OPENING: dict[str, tuple[Step, ...]] = {"codes": GONE, "consents": GONE}
ACTIONS: dict[str, tuple[Step, ...]] = {
    "codes": (
        ("consent", STORE, None), ("exchange", 0), ("exchange", 1), ("install", STORE, None), ("uninstall", STORE, False),
    ),
    "consents": (("consent", STORE, None), ("consent", STORE, P), ("exchange", 0), ("exchange", 1)),
    "staff": (("consent", "kim", None), ("consent", STORE, None), ("kim_leaves",), ("exchange", 0)),
    "developers": (("sam_becomes", ""), ("sam_becomes", "VIEWER"), ("sam_becomes", "DEVELOPER"), ("test_install",)),
    "questions": (
        ("version_with_scopes", G, False), ("version_with_parts", "b", "one", False), ("open_question", STORE),
        ("answer", STORE, True),
    ),
    "scopes": (
        ("version_with_scopes", P, False), ("version_with_scopes", G, False), ("answer", STORE, True), ("move_release", "back"),
    ),
    "parts": (
        ("version_with_parts", "a", "two", False), ("version_with_parts", "a pinned", "one", False),
        ("version_with_parts", "b", "one", False), ("save", "a", "one"), ("answer", STORE, True), ("move_release", "back"),
    ),
    "pauses": (("pause", STORE), ("happens", STORE, "review.created"), ("suspend",), ("workers_leave",)),
    "sending": (
        ("workers_leave",), ("happens", STORE, "review.created"), ("version_with_scopes", P, False),
        ("uninstall", STORE, False), ("two_days_pass",),
    ),
}  # fmt: skip


class Short:
    """The life of these steps. `states` are those that the model was in, the first one first."""

    def __init__(self, about: str, steps: tuple[Step, ...], states: tuple[object, ...] = ()) -> None:
        self.about, self.steps, self.states = about, steps, states
        self.home = HOME.get(about, STORE)
        self.following: tuple[Step, ...] = ()  # what may be done next

    def learn(self, lives: Lives) -> None:
        """What there is before its end."""
        self.following = tuple(step for step in ACTIONS[self.about] if WHEN[step[0]](lives))
        self.states = (*self.states, _state(lives))

    def leads_on(self, known: set[object]) -> bool:
        """Whether it came to what isn't `known`, or by other actions than before: they may have left something behind."""
        if self.states[-1] in self.states[-2:-1]:
            return False
        came = self.states[-1], frozenset(self.steps)
        is_new = came not in known
        known.add(came)
        return is_new


def _state(lives: Lives) -> object:
    """All that the model and the life know, without times and without versions that nothing refers to."""
    life = {name: value for name, value in vars(lives.life).items() if name not in ("now", "versions")}
    codes = [code for code, _ in lives.codes]
    return _plain((life, codes, lives.opened, lives.review, lives.has_workers))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return None
    if isinstance(value, dict):
        return frozenset((_plain(key), _plain(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if isinstance(value, set):
        return frozenset(value)
    if is_dataclass(value):
        return tuple(_plain(getattr(value, each.name)) for each in fields(value))
    return value
