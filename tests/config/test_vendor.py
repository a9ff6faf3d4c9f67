"""Vendored files are listed, changed only as the list says, and under a license that fits ours."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LICENSES = {
    ROOT / "static/vendor": {"MIT", "ISC", "BSD-3-Clause", "0BSD", "Apache-2.0", "OFL-1.1"},
    ROOT / "tests/browser/vendor": {"MIT", "ISC", "MPL-2.0"},
}
folders = pytest.mark.parametrize("folder", LICENSES, ids=lambda path: path.relative_to(ROOT).as_posix())


def entries(folder: Path) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text())
    return listed


@folders
def test_vendored_files_are_those_of_the_list(folder: Path) -> None:
    licences = {path for path in folder.rglob("*") if path.name.startswith("LICENSE")}
    files = {path for path in folder.rglob("*") if path.is_file()} - licences - {folder / "manifest.json"}
    assert files == {folder / entry["file"] for entry in entries(folder)}


@folders
def test_vendored_files_have_the_hash_of_the_list(folder: Path) -> None:
    for entry in entries(folder):
        assert hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest() == entry["sha256"], entry[
            "file"
        ]


@folders
def test_vendored_files_have_a_licence_that_fits(folder: Path) -> None:
    for entry in entries(folder):
        assert set(entry["license"].split(" AND ")) <= LICENSES[folder], entry["package"]
        assert len((folder / entry["license_file"]).read_text()) > 500, entry["license_file"]


def test_pages_name_the_versions_that_are_there() -> None:
    """Paths with a version are written in CSS, a template and a tag: a forgotten one would be a 404."""
    served = {
        f"vendor/{entry['file']}"
        for entry in entries(ROOT / "static/vendor")
        if entry["version"] in entry["file"]
    }
    sources = [
        ROOT / "static/css/tokens.css",
        ROOT / "templates/components/head.html",
        ROOT / "common/templatetags/ui.py",
        ROOT / "templates/developers/portal/manifest/manifest.html",
        ROOT / "templates/merchants/pages/add.html",
        ROOT / "templates/merchants/pages/editor.html",
    ]
    text = "\n".join(source.read_text() for source in sources)
    assert {path for path in served if path in text} == served
    assert text.count("vendor/") == 8
