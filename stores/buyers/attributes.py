"""What apps put into carts and orders: short texts under keys of each app's own (contract, section 23, "Attributes")."""

import re
from collections.abc import Mapping
from typing import Any, Final
from unicodedata import category

MOST_KEYS: Final = 20  # of one app
LONGEST: Final = 500  # characters
KEY: Final = re.compile(r"[a-z0-9_]{1,40}", re.ASCII)
PUBLIC: Final = "public_"  # keys that the buyer sees begin with it
MOST_SHOWN: Final = 100  # characters of a wrong key
MOST_PROBLEMS: Final = 50

WRONG_KEY: Final = "A key must be 1 to 40 characters of a-z 0-9 _."
WRONG_TEXT: Final = "Must be a text, or null to remove it."
TOO_LONG: Final = f"Must have at most {LONGEST} characters."
CONTROL: Final = "Must have no control characters but line feeds."
TOO_MANY: Final = f"An app may have at most {MOST_KEYS} keys here."

Attributes = dict[str, str]  # of one app
ByOwner = Mapping[str, Mapping[str, str]]  # by the app, as `OrderHookPart.provider` names it
NONE: Final[ByOwner] = {}


def merged(before: Mapping[str, str], changes: Mapping[Any, Any]) -> tuple[Attributes, dict[str, str]]:
    """What is there after these changes, of which null removes a key, and the problem of each that can't be taken, by its key."""
    after, problems = dict(before), dict[str, str]()
    removed = [key for key, value in changes.items() if value is None]
    for key in [*removed, *(key for key in changes if changes[key] is not None)]:
        value = changes[key]
        if problem := _problem(after, key, value):
            if len(problems) < MOST_PROBLEMS:
                problems[str(key)[:MOST_SHOWN]] = problem
        elif value is None:
            after.pop(key, None)
        else:
            after[key] = value
    return after, problems


def _problem(after: Mapping[str, str], key: Any, value: Any) -> str:
    if not isinstance(key, str) or KEY.fullmatch(key) is None:
        return WRONG_KEY
    if value is None:
        return ""
    if not isinstance(value, str):
        return WRONG_TEXT
    if len(value) > LONGEST:
        return TOO_LONG
    # Half a pair of UTF-16 is no character, and no database takes it.
    if any(category(sign) in ("Cc", "Cs") and sign != "\n" for sign in value):
        return CONTROL
    return TOO_MANY if key not in after and len(after) >= MOST_KEYS else ""


def with_those_of(everyone: ByOwner | None, owner: str, own: Mapping[str, str]) -> dict[str, Any] | None:
    """The attributes of all apps, with these of one; None where nothing is left."""
    others = {each: kept for each, kept in (everyone or {}).items() if each != owner}
    return ({**others, owner: dict(own)} if own else others) or None


def public(everyone: ByOwner | None) -> list[tuple[str, Attributes]]:
    """What the buyer may see, by the app."""
    shown = {
        owner: {key: text for key, text in own.items() if key.startswith(PUBLIC)}
        for owner, own in (everyone or {}).items()
    }
    return [(owner, own) for owner, own in shown.items() if own]
