"""Mutants: changes of one thing in a function, which some test should notice."""

import re
import tomllib
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from parso.tree import NodeOrLeaf

from tests.mutants.operators import OPERATORS, changes

ROOT: Final = Path(__file__).parents[2]
EQUIVALENT: Final = Path(__file__).with_name("equivalent.toml")

Key = tuple[str, ...]  # path, function and change


@dataclass(frozen=True, slots=True)
class Mutant:
    """`function` and `change` name it also when lines move. To notice it, a test has to run one of its `lines`.

    `body` are the first and the last line of the function.
    """

    path: str
    line: int
    function: str
    change: str
    lines: list[int]
    body: list[int]
    operator: int
    occurrence: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.function}: {self.change}"

    @property
    def key(self) -> Key:
        return self.path, self.function, self.change

    def changed(self, source: str) -> str:
        code: str = mutate_code(source, OPERATORS[self.operator], self.occurrence)
        return code


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a file, by their lines, each change once."""
    source = (ROOT / path).read_text()
    found = {}
    for operator, occurrence, node, (start, end) in changes(get_ast(source)):
        if function := _function(node):
            changed = mutate_code(source, OPERATORS[operator], occurrence)
            lines = _lines(node, start[0], end[0])
            if _plain(changed) == _plain(source):
                continue
            found[changed] = Mutant(
                path, start[0], function, _change(source, changed), lines, _body(node), operator, occurrence
            )
    return sorted(found.values(), key=lambda each: each.line)


def _plain(source: str) -> str:
    """Without what no rule speaks of: the moment that a service takes by default, and how strong its locks are."""
    source = source.replace("now or timezone.now()", "timezone.now()")
    return re.sub(r"\bno_key=(True|False),?|\s", "", source)


def _function(node: NodeOrLeaf) -> str:
    """The qualified name of the function whose body has the node; empty elsewhere and in annotations, for they don't run again."""
    names, body, inside = [], node, False
    while node := node.parent:
        if node.type == "annassign" and body is node.children[1]:
            return ""
        if node.type in ("funcdef", "classdef"):
            names.append(node.name.value)
            inside |= node.type == "funcdef" and node.children[-1] is body
        body = node
    return ".".join(reversed(names)) if inside else ""


def _lines(node: NodeOrLeaf, first: int, last: int) -> list[int]:
    statement = node
    while statement.parent.type not in ("suite", "file_input") and statement.type != "simple_stmt":
        statement = statement.parent
    return sorted({statement.start_pos[0], *range(first, last + 1)})


def _body(node: NodeOrLeaf) -> list[int]:
    while node.type != "funcdef":
        node = node.parent
    return [node.start_pos[0], node.end_pos[0]]


def _change(source: str, changed: str) -> str:
    """The lines that differ, before and after, as `a and b → b`."""
    before, after = source.splitlines(), changed.splitlines()
    texts: tuple[list[str], list[str]] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            texts[0].extend(before[a:b])
            texts[1].extend(after[c:d])
    return " → ".join(" ".join(" ".join(lines).split()) for lines in texts)


def listed() -> set[Key]:
    """Those that aren't tried: without any effect that someone could notice."""
    rows: list[dict[str, str]] = tomllib.loads(EQUIVALENT.read_text()).get("mutant", [])
    assert all(row["reason"] for row in rows)
    return {(row["path"], row["function"], row["change"]) for row in rows}
