"""Broken templates are found without opening their pages."""

from pathlib import Path
from typing import Any

import pytest

from tools.templates import check

BROKEN = {
    "unknown tag": ("{% sparkle %}", "sparkle"),
    "unknown filter": ("{{ name|sparkle }}", "sparkle"),
    "unclosed block": ("{% if name %}", "if"),
    "unknown tag library": ("{% load sparkle %}", "sparkle"),
    "missing layout": ('{% extends "layouts/sparkle.html" %}', "layouts/sparkle.html"),
    "missing include in a branch": ('{% if name %}{% include "sparkle.html" %}{% endif %}', "sparkle.html"),
    "long line": ("a" * 161, "161 characters"),
}


@pytest.fixture
def folder(settings: Any, tmp_path: Path) -> Path:
    """An empty folder of templates, the only one of the project."""
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"DIRS": [tmp_path]}]
    return tmp_path


@pytest.mark.parametrize(("text", "named"), BROKEN.values(), ids=BROKEN)
def test_broken_template_is_named_with_its_fault(folder: Path, text: str, named: str) -> None:
    (folder / "page.html").write_text(text)
    [problem] = check(folder)
    assert problem.startswith(f"{folder / 'page.html'}:")
    assert named in problem


def test_template_with_computed_and_existing_names_passes(folder: Path) -> None:
    (folder / "layout.html").write_text("{% block body %}{% endblock %}")
    (folder / "page.html").write_text(
        '{% extends "layout.html" %}{% block body %}{% include name %}{% endblock %}'
    )
    assert not list(check(folder))
