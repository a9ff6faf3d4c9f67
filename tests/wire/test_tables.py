"""The two tables have a row for each route, and no other module of the tests lists routes."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from common.web.methods import methods_of
from tests.endpoints_table import ENDPOINTS
from tests.pages_table import ADMIN_OF_DJANGO, APIS, PAGES
from tests.wire.pages import routes

ROOT = Path(__file__).parents[2]
TABLES = [ROOT / "tests" / name for name in ("pages_table.py", "endpoints_table.py")]
METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}
REFUSES_GET = "account_logout"  # the view of allauth has a method for it
FEW = 3


def test_every_page_has_a_row() -> None:
    methods = defaultdict(set)
    for route in routes():
        if not route.name.startswith(APIS) and not ADMIN_OF_DJANGO.match(route.name):
            methods[route.name] |= set(methods_of(route.view)) & {"GET", "POST"}
    missing, gone = sorted(methods.keys() - PAGES.keys()), sorted(PAGES.keys() - methods.keys())
    assert missing == [], f"Add a row to tests/pages_table.py for each of {missing}."
    assert gone == [], f"Take the rows of {gone} out of tests/pages_table.py."
    methods[REFUSES_GET].remove("GET")
    wrong = {
        name: found
        for name, found in methods.items()
        if found
        != {method for method, who in (("GET", PAGES[name].reads), ("POST", PAGES[name].writes)) if who}
    }
    assert wrong == {}, f"tests/pages_table.py: these rows read or write by other methods: {wrong}."


def test_every_endpoint_has_a_row() -> None:
    found = {
        f"{method} {route.form}".replace("%(", "<").replace(")s", ">")
        for route in routes()
        if route.name.startswith(APIS)
        for method in METHODS & set(methods_of(route.view))
    }
    rows = set(map(str, ENDPOINTS))
    assert found - rows == set(), f"Add a row to tests/endpoints_table.py for each of {found - rows}."
    assert rows - found == set(), f"Take the rows of {rows - found} out of tests/endpoints_table.py."


def test_no_other_list_of_routes_is_in_the_tests() -> None:
    names = {each for name in PAGES for each in (name, name.partition(":")[2]) if re.search("[:_]", each)}
    names |= set(map(str, ENDPOINTS)) | {re.sub(r" ", " /", str(each)) for each in ENDPOINTS}
    found = [
        f"{path.relative_to(ROOT)}:{line}: {sorted(listed)}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path not in TABLES
        for line, listed in lists(ast.parse(path.read_text()))
        if FEW < len(listed & names) > len(listed) / 2
    ]
    assert found == [], (
        "What a route has belongs in its row of tests/pages_table.py or tests/endpoints_table.py."
    )


def lists(tree: ast.AST) -> Iterator[tuple[int, set[str]]]:
    """The texts of each set, list, tuple and dictionary, and of rows of them."""
    for node in ast.walk(tree):
        values = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        firsts = [first(each) for each in values]
        yield getattr(node, "lineno", 0), {each for each in firsts if each}


def first(node: ast.AST | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    inner = node.args if isinstance(node, ast.Call) else getattr(node, "elts", ())
    return first(inner[0]) if inner else ""
