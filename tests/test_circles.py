"""No modules import each other in a circle, of the product or of the SDK; imports for types and inside functions count, too."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import pytest
from django.conf import settings

from tools.tracked_files import tracked

NO_PRODUCT = {"tests", "tools", "benchmarks", "examples", "docs", "deploy"}
SDK = "sdk/python/"


def modules() -> dict[str, str]:
    """The file of each module, by its dotted name. A package has the name of its folder."""
    return {
        name.removeprefix(SDK).removesuffix(".py").removesuffix("/__init__").replace("/", "."): name
        for name in tracked()
        if name.endswith(".py")
        and name.split("/")[0] not in NO_PRODUCT
        and "/migrations/" not in name
        and "/templates/" not in name
    }


def imported(text: str, package: str, known: set[str]) -> Iterator[str]:
    """The modules that a module of this package imports, as `known` names them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = (f"{source}.{alias.name}" for alias in node.names)
            yield from (
                each for each in {name if name in known else source for name in names} if each in known
            )


def graph(texts: dict[str, tuple[str, bool]]) -> TopologicalSorter[str]:
    """`texts` has the source of each module, and whether it is a package."""
    return TopologicalSorter({
        name: set(imported(text, name if is_package else name.rpartition(".")[0], set(texts))) - {name}
        for name, (text, is_package) in texts.items()
    })  # fmt: skip


def test_no_modules_import_each_other() -> None:
    graph({
        name: ((settings.BASE_DIR / file).read_text(), file.endswith("__init__.py")) for name, file in modules().items()
    }).prepare()  # fmt: skip


@pytest.mark.parametrize("closing", ["import a.b", "from a import b", "from .b import x", "from . import b", "def f():\n    from a.b import x"])  # fmt: skip
def test_each_kind_of_import_can_close_a_circle(closing: str) -> None:
    with pytest.raises(CycleError, match=r"a\.b"):
        graph({"a": ("", True), "a.b": ("from a.c import y", False), "a.c": (closing, False)}).prepare()
    graph({"a": ("", True), "a.b": ("from a.c import y", False), "a.c": ("import os", False)}).prepare()
