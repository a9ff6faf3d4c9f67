"""Finds code that compares a column with something: `==` and the like, and lookups of querysets."""

import ast
from collections.abc import Collection
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
OURS: Final = (
    "accounts", "activity", "appapi", "config", "conformance", "developers", "extensions", "installations",
    "marketplace", "merchants", "storeapi", "storefront", "stores", "streams", "teststores", "webhooks",
)  # fmt: skip
LOOKUPS: Final = ("filter", "exclude", "get", "Q", "F")


def comparisons(source: str, names: Collection[str]) -> list[int]:
    """The lines that compare one of these columns."""
    return sorted({node.lineno for node in ast.walk(ast.parse(source)) if _compares(node, names)})


def _compares(node: ast.AST, names: Collection[str]) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(isinstance(each, ast.Attribute) and each.attr in names for each in sides)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in LOOKUPS:
        return False
    words = [each.arg or "" for each in node.keywords]
    words += [
        each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return any(part in names for word in words for part in word.split("__"))


def found_outside(decide: tuple[str, ...], names: Collection[str]) -> list[str]:
    """`file:line` of each outside the modules that decide."""
    return [
        f"{path.relative_to(ROOT)}:{line}"
        for app in OURS
        for path in sorted((ROOT / app).rglob("*.py"))
        if "migrations" not in path.parts and not str(path.relative_to(ROOT)).startswith(decide)
        for line in comparisons(path.read_text(), names)
    ]
