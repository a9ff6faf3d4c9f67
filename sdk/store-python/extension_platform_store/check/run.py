"""Runs rules against a shop, and returns what became of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from . import checkout, commands, connecting, customers, pages, repair, rows, sales  # noqa: F401 - each adds its rules
from .rules import GROUPS, RULES, ShopRule
from .subject import Subject
from .verdicts import NotTried, RuleBroken

Outcome = Literal["PASS", "FAIL", "SKIPPED"]

ORDER = tuple(GROUPS)
FIRST = "CN001"
"""The rule that all others need: no row of a shop without it arrives."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a rule."""

    rule: ShopRule
    outcome: Outcome
    detail: str
    """What was seen, or what was expected and what the shop did, or why it wasn't tried."""
    seconds: float
    missing: str = ""
    """The rule that it needs, if it wasn't tried for the lack of one."""


class UnknownRule(Exception):
    """Raised for the name of a rule that isn't one."""


def all_rules() -> list[ShopRule]:
    """In the order of their groups, as they are tried."""
    return sorted(RULES.values(), key=lambda rule: ORDER.index(rule.id[:2]))


def chosen(only: Iterable[str]) -> list[ShopRule]:
    """The rules whose ids begin with one of these texts; all without any. Raises ``UnknownRule`` if one matches none."""
    wanted = [each.upper() for each in only]
    for each in wanted:
        if not any(rule.id.startswith(each) for rule in all_rules()):
            raise UnknownRule(f"There is no rule {each}. Groups are {', '.join(GROUPS)}.")
    return [rule for rule in all_rules() if not wanted or rule.id.startswith(tuple(wanted))]


def run_rules(
    shop: Subject, rules: Iterable[ShopRule], tell: Callable[[Tried], None] = lambda _: None
) -> list[Tried]:
    """Connect the shop, try each rule, and report it at once. A rule that needs another one which failed isn't tried."""
    results: list[Tried] = []
    for tried in _each(shop, list(rules)):
        tell(tried)
        results.append(tried)
    return results


def _each(shop: Subject, rules: list[ShopRule]) -> Iterator[Tried]:
    lost: set[str] = set()
    cause = ""
    try:
        shop.connect()
    except (NotTried, RuleBroken) as error:
        cause = str(error)
    for rule in rules:
        tried = Tried(rule, "FAIL", cause, 0.0) if cause else _tried(shop, rule, lost)
        if tried.outcome != "PASS":
            lost.add(rule.id)
        yield tried


def _tried(shop: Subject, rule: ShopRule, lost: set[str]) -> Tried:
    missing = [each for each in (FIRST, *rule.needs) if each in lost]
    if missing:
        return Tried(rule, "SKIPPED", f"It needs {missing[0]}.", 0.0, missing[0])
    began = time.monotonic()
    outcome: Outcome
    try:
        outcome, detail = "PASS", rule.tries(shop)
    except RuleBroken as broken:
        outcome, detail = "FAIL", str(broken)
    except NotTried as reason:
        outcome, detail = "SKIPPED", str(reason)
    finally:
        shop.settle()
    return Tried(rule, outcome, detail, time.monotonic() - began)
