"""What a person may do with an app is decided in one place: nothing else compares an app's developer with anybody."""

import ast
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DECIDE: Final = ("marketplace/access.py", "marketplace/models")
OURS: Final = (
    "accounts", "activity", "appapi", "config", "conformance", "developers", "extensions", "installations",
    "marketplace", "merchants", "storefront", "stores", "streams", "webhooks",
)  # fmt: skip
LOOKUPS: Final = ("filter", "exclude", "get", "Q", "F")


def comparisons(source: str) -> list[int]:
    """The lines that compare an app's developer: `==` and the like, and lookups of querysets."""
    return sorted(
        {node.lineno for node in ast.walk(ast.parse(source)) if _compares(node)},
    )


def _compares(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(isinstance(each, ast.Attribute) and _names_developer(each.attr) for each in sides)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in LOOKUPS:
        return False
    words = [each.arg or "" for each in node.keywords]
    words += [
        each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return any(_names_developer(part) for word in words for part in word.split("__"))


def _names_developer(name: str) -> bool:
    return name in ("developer", "developer_id")


def test_only_one_module_compares_the_developer_of_an_app() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for app in OURS
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts and not str(path.relative_to(ROOT)).startswith(DECIDE)
        for line in comparisons(path.read_text())
    ]
    assert not found


def test_comparisons_are_found_however_they_are_written() -> None:
    for line in (
        "app.developer_id == user.pk",
        "user != app.developer",
        "App.objects.filter(developer=user)",
        "Call.objects.exclude(app__developer=user)",
        "Q(app__developer_id=user.pk)",
        "F('app__developer')",
        "x = user.pk if (user.pk in app.developer_id) else None",
    ):
        assert comparisons(line) == [1], line
    assert not comparisons("App(developer=user); rows.select_related('developer')")
