"""The house stays one that a person can walk through: how many modules there are, and how much of the code only imports.

A module is worth a file if several others read it, or if it is long enough to be read alone. Where a figure is over its goal, a module
that only one other imports goes into that one, and small ones of one topic become one that is named after the topic.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

import pytest
from django.apps import apps
from django.conf import settings

from tests.code_lines import code_lines
from tools.tracked_files import tracked

MOST_MODULES = 690
MOST_IMPORTS = 0.13  # of the lines of code
MOST_SINGLE_READERS = 80
MOST_IN_A_FOLDER = 16
LONGEST = 350  # lines that aren't blank

# Django reads these by their names.
WIRING = re.compile(
    r"(^|/)(urls|apps|admin|tasks|receivers|signals|checks|celery|wsgi|middleware|views|commands|templatetags|management)(/|\.py$)"
)


class Figures(NamedTuple):
    modules: int
    imports: float  # the share of the lines of code
    single_readers: list[str]
    full_folders: list[str]
    longest: int


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def import_lines(tree: ast.Module) -> int:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def figures(texts: dict[str, str]) -> Figures:
    """Of the files with these texts."""
    trees = {name: ast.parse(text) for name, text in texts.items()}
    own = [name for name in texts if not name.endswith("__init__.py")]
    readers = defaultdict(set)
    for name in own:
        for module in imported(trees[name]):
            readers[module].add(name)
    folders = Counter(str(PurePath(name).parent) for name in texts)
    return Figures(
        modules=len(own),
        imports=sum(map(import_lines, trees.values()))
        / sum(code_lines(text, trees[name]) for name, text in texts.items()),
        single_readers=[
            name
            for name in own
            if not WIRING.search(name) and len(readers[name.removesuffix(".py").replace("/", ".")]) == 1
        ],
        full_folders=sorted(folder for folder, number in folders.items() if number > MOST_IN_A_FOLDER),
        longest=max(sum(1 for line in text.splitlines() if line.strip()) for text in texts.values()),
    )


@pytest.fixture(scope="module")
def product() -> Figures:
    rooms = {each.name.partition(".")[0] for each in apps.get_app_configs()} - {"tests"}
    return figures(
        {
            name: (settings.BASE_DIR / name).read_text()
            for name in tracked()
            if name.endswith(".py") and name.partition("/")[0] in rooms and "/migrations/" not in name
        }
    )


def test_few_modules(product: Figures) -> None:
    assert product.modules <= MOST_MODULES
    assert len(product.single_readers) <= MOST_SINGLE_READERS, product.single_readers


def test_most_of_the_code_is_no_import(product: Figures) -> None:
    assert product.imports <= MOST_IMPORTS


def test_no_module_and_no_folder_is_too_full(product: Figures) -> None:
    assert product.longest <= LONGEST
    assert product.full_folders == []


def test_what_is_counted() -> None:
    """Two of five lines import; a docstring and a comment are no code. One module has one reader, and Django reads `urls.py`."""
    found = figures(
        {
            "a/__init__.py": "",
            "a/b.py": '"""A module.\n\nOf two paragraphs."""\nX = (\n    1\n)\n',
            "a/c.py": "# A comment.\nfrom a.b import X\nimport os\n",
            "a/urls.py": "",
        }
        | {f"full/m{number}.py": "\n\n" for number in range(17)}
    )
    assert found == (20, 0.4, ["a/b.py"], ["full"], 5)
