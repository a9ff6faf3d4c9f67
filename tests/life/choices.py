"""What lives choose from: actions, and their values, mostly of the store that a life is about."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.life.looks import STORES
from tests.life.model import BASE

STORE_OF = {"mira": "mira", "tom": "tom", "kim": "mira"}
ABOUT = ("", "installs", "releases", "events", "people")
LONGEST = 30  # steps
MOVES = ("advance", "halt", "resume", "back")

Action = Callable[..., None]
Step = tuple[Any, ...]  # an action, and its values
WHEN: Final[dict[str, Callable[[Any], Any]]] = {}  # what each action may be chosen by


def action(
    about: str, *, when: Callable[[Any], Any] = lambda _: True, **values: st.SearchStrategy[Any]
) -> Callable[[Action], Action]:
    """A rule of lives that are `about` one of these, which are asked `when` it may be chosen. Lives keep what they did."""

    def made(function: Action) -> Action:
        WHEN[function.__name__] = when

        @wraps(function)
        def acts(self: Any, **values: Any) -> None:
            if len(self.steps) < self.length:
                self.steps.append((function.__name__, *(values[each] for each in names_of(function))))
                function(self, **values)

        chosen: Action = precondition(lambda self: self.is_about(about) and when(self))(rule(**values)(acts))
        return chosen

    return made


def names_of(function: Action) -> list[str]:
    """Of the values of an action."""
    return list(signature(function).parameters)[1:]


def near(names: Callable[[Any], Iterable[str]]) -> st.SearchStrategy[str]:
    """One of these stores or people, mostly of the store that the life is about."""

    def choose(lives: Any) -> st.SearchStrategy[str]:
        found = list(names(lives))
        return st.sampled_from(found + 3 * [each for each in found if STORE_OF.get(each, each) == lives.home])

    return st.runner().flatmap(choose)


any_store = near(lambda _: STORES)
with_app = near(lambda self: [each.store for each in self.life.active()])
that_asks = near(lambda self: [each.store for each in self.life.active() if self.is_asked(each)])
newest_codes = st.runner().flatmap(lambda self: st.integers(0, min(len(self.codes), 3) - 1))
moves = st.runner().flatmap(lambda self: st.sampled_from([*MOVES, *filter(self.life.can_move, MOVES * 3)]))
scopes = st.sampled_from(
    (frozenset({BASE}), frozenset({BASE, "read_reviews"}), frozenset({BASE, "read_reviews", "read_pages"}))
)
scripts, widgets = st.sampled_from(("", "a", "a pinned", "b")), st.sampled_from(("", "one", "two"))
in_steps = st.sampled_from((False, False, True))
lengths = st.sampled_from((1, *(LONGEST,) * 9))  # Hypothesis begins with the first
named = st.sampled_from((None, frozenset({BASE})))
