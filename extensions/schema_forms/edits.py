"""What a merchant changed in a settings form: property by property, compared with what its page showed.

A property is one of the schema's own; what is inside of an object or a list changes with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.web.forms.edits import digest, read, written
from extensions.schema_forms.controls import MISSING
from extensions.schema_forms.state import State

SHOWN: Final = ":shown"  # the name of the field with the digests; no property's field has a colon in its name


@dataclass
class Edits:
    """Digests by the names of the properties' fields: of what the page had shown, what was typed, and what is kept now."""

    shown: dict[str, str]
    typed: dict[str, str]
    now: dict[str, str]

    @classmethod
    def of(cls, typed: Mapping[str, State], now: Mapping[str, State], shown: str) -> "Edits":
        """Without `shown`, what is kept now counts as shown."""
        digests = _digests(now)
        return cls(read(shown) or digests, _digests(typed), digests)

    def is_changed(self, name: str) -> bool:
        """By the person. A property that the page didn't show isn't."""
        return self.shown.get(name, self.typed[name]) != self.typed[name]

    def is_stale(self, name: str) -> bool:
        """Whether it was also changed by somebody else, to something else."""
        return self.is_changed(name) and self.shown[name] != self.now[name] != self.typed[name]

    def have_seen(self, name: str) -> None:
        """The page now says what is kept, so typing something else replaces that."""
        self.shown[name] = self.now[name]

    @property
    def text(self) -> str:
        return written(self.shown)


def _digests(states: Mapping[str, State]) -> dict[str, str]:
    return {name: digest(_plain(state)) for name, state in states.items()}


def _plain(state: State) -> Any:
    if isinstance(state, dict):
        return {name: _plain(each) for name, each in state.items()}
    if isinstance(state, list):
        return [_plain(entry.state) for entry in state]
    return state or ""


def words_of_setting(value: Any) -> str:
    """A kept value as a person reads it; "" for none. Entries of a list are lines."""
    match value:
        case bool():
            return "On" if value else "Off"
        case dict():
            return ", ".join(f"{name}: {words_of_setting(each)}" for name, each in value.items())
        case list():
            return "\n".join(map(words_of_setting, value))
    return "" if value is MISSING or value is None else str(value)
