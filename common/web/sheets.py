"""One style sheet for each layout, made from the parts that `static/css/sheets/` lists.

`static/css/sheets/portal.css` names its parts by `@import`, and `{% static 'sheets/portal.css' %}` is one file with all of
them, without comments and indentation, so that a page asks for one. It is made when it is first asked for, and again after a part has
changed.

Sheets of Django's administration can be included too, in a layer: `@import url("../../admin/css/base.css") layer(django);`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

FOLDER = "sheets"
IMPORT = re.compile(r'@import "(?P<part>[^"]+)";\n?')
OF_DJANGO = re.compile(r'@import url\("\.\./\.\./(?P<file>admin/css/[^"]+)"\) layer\((?P<layer>\w+)\);')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
INDENT = re.compile(r"^\s+", re.MULTILINE)
INNER_IMPORT = re.compile(r"@import url\('[^']+'\);")
PICTURE = re.compile(r"url\(\.\./img/")


class SheetFinder(BaseFinder):
    """Finds `sheets/*.css` for `collectstatic`, and for pages where files are served as they are found."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lists = settings.BASE_DIR / "static" / "css" / FOLDER
        self._made = settings.VAR_DIR / FOLDER
        super().__init__(*args, **kwargs)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False) -> Any:
        folder, _, name = path.partition("/")
        source = self._lists / name
        if folder != FOLDER or "/" in name or not source.is_file():
            return []
        made = str(self._make(source))
        return [made] if find_all else made

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        storage = FileSystemStorage(self._made)
        storage.prefix = FOLDER  # type: ignore[attr-defined]  # as Django's own finders do
        for source in sorted(self._lists.glob("*.css")):
            yield self._make(source).name, storage

    def _make(self, source: Path) -> Path:
        made = self._made / source.name
        parts = list(_parts(source))
        newest = max(part.stat().st_mtime for part in [*parts, Path(__file__)])
        if not made.exists() or made.stat().st_mtime < newest:
            made.parent.mkdir(parents=True, exist_ok=True)
            draft = made.with_suffix(f".{os.getpid()}")
            text = "".join(IMPORT.sub("", part.read_text()) for part in parts)
            draft.write_text(INDENT.sub("", COMMENT.sub("", OF_DJANGO.sub(_in_a_layer, text))))
            draft.replace(made)
        return made


def _parts(source: Path) -> Iterator[Path]:
    """The files that `source` imports, in the order in which they apply, and `source` itself."""
    for match in IMPORT.finditer(source.read_text()):
        yield from _parts((source.parent / match["part"]).resolve())
    yield source


def _in_a_layer(match: re.Match[str]) -> str:
    """A sheet of Django's in its layer, with the addresses of its pictures as seen from ours."""
    found = finders.find(match["file"])
    text = PICTURE.sub("url(../admin/img/", INNER_IMPORT.sub("", Path(str(found)).read_text()))
    return f"@layer {match['layer']} {{\n{text}}}"
