"""The examples of connected shops stay as small as the guide says, and know the platform by HTTP alone."""

import ast
import json
import re

import pytest
from django.conf import settings

from tests.code_lines import code_lines

SHOP = settings.BASE_DIR / "examples" / "oscar_shop"
VENDURE = settings.BASE_DIR / "examples" / "vendure_shop"
MOST_LINES, MOST_MIXINS, MOST_OF_VENDURE = 250, 3, 350
NO_CODE = re.compile(r"\s*(//|/?\*|$)")
MOST_LINES_OF_A_DRIVER = 150


@pytest.mark.spec(
    "Contract 17 Connected stores", "An adapter for django-oscar has at most 250 lines and 3 mixins"
)
def test_adapter_is_small() -> None:
    text = (SHOP / "shop" / "adapter.py").read_text()
    tree = ast.parse(text)
    assert code_lines(text, tree) <= MOST_LINES
    mixins = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name.endswith("Mixin")]
    assert len(mixins) <= MOST_MIXINS


def test_driver_is_small() -> None:
    text = (SHOP / "check_driver.py").read_text()
    assert code_lines(text, ast.parse(text)) <= MOST_LINES_OF_A_DRIVER


def test_shop_imports_nothing_of_the_platform() -> None:
    apps = {each.name for each in settings.BASE_DIR.iterdir() if (each / "__init__.py").exists()}
    for file in SHOP.rglob("*.py"):
        imported = set(re.findall(r"^(?:from|import) (\w+)", file.read_text(), re.MULTILINE))
        assert not imported & apps, file
    for line in (SHOP / "requirements.txt").read_text().splitlines():
        assert re.fullmatch(r"[\w-]+==[\d.]+", line)


@pytest.mark.spec(
    "Contract 17 Connected stores", "What knows Vendure has at most 350 lines, and is marked as GPL"
)
def test_plugin_is_small_and_apart() -> None:
    texts = [file.read_text() for file in (VENDURE / "plugin").glob("*.js")]
    lines = [line for text in texts for line in text.splitlines() if not NO_CODE.match(line)]
    assert 200 < len(lines) <= MOST_OF_VENDURE
    assert all(text.startswith("// SPDX-License-Identifier: GPL-3.0-or-later\n") for text in texts)
    for file in (VENDURE / "client").glob("*.js"):  # of which the license is another one
        required = re.findall(r'require\("([^"]+)"\)', file.read_text())
        assert all(name.startswith(("node:", "./")) for name in required), file


def test_versions_of_vendure_are_exact() -> None:
    dependencies = json.loads((VENDURE / "package.json").read_text())["dependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in dependencies.values())
