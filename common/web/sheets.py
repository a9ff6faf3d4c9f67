"""One style sheet and one script for each layout, made from the parts that `static/css/sheets/` and `static/js/scripts/` list.

`static/css/sheets/portal.css` names its parts by `@import`, and `{% static 'sheets/portal.css' %}` is one file with all of
them, without comments, indentation and breaks of lines, so that a page asks for one. It is made when it is first asked for, and again after a part has
changed.

`static/js/scripts/store.js` lists scripts by `import`, and `{% static 'scripts/store.js' %}` has all of them and what they import. Each is
in a block of its own, but for those that export something: their names are there for all.

`script_text` makes one text of such a list, for pages that aren't ours.

Sheets of Django's administration can be included too, in a layer: `@import url("../../admin/css/base.css") layer(django);`.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

SHEETS, SCRIPTS = "sheets", "scripts"
SOURCES = {SHEETS: "css", SCRIPTS: "js"}
NEEDED = re.compile(r'^import (?:[^"]* from )?"(?P<part>[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=function |const )", re.MULTILINE)
IMPORT = re.compile(r'@import "(?P<part>[^"]+)";\n?')
OF_DJANGO = re.compile(r'@import url\("\.\./\.\./(?P<file>admin/css/[^"]+)"\) layer\((?P<layer>\w+)\);')
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
COMMENT_LINE = re.compile(r"^\s*//.*\n", re.MULTILINE)
INDENT = re.compile(r"^\s+", re.MULTILINE)
BREAK = re.compile(r"(?<=[{};,])\n")
PROPERTY = re.compile(r"(?<=[{};])([\w-]+): ")
INNER_IMPORT = re.compile(r"@import url\('[^']+'\);")
PICTURE = re.compile(r"url\(\.\./img/")


class JoiningFinder(BaseFinder):
    """Finds `sheets/*.css` and `scripts/*.js` for `collectstatic`, and for pages where files are served as they are found."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lists = {
            folder: settings.BASE_DIR / "static" / kind / folder for folder, kind in SOURCES.items()
        }
        super().__init__(*args, **kwargs)

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False) -> Any:
        folder, _, name = path.partition("/")
        source = self._lists[folder] / name if folder in SOURCES and "/" not in name else None
        if source is None or not source.is_file():
            return []
        made = str(_made(source))
        return [made] if find_all else made

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, FileSystemStorage]]:
        for folder, lists in self._lists.items():
            storage = FileSystemStorage(settings.VAR_DIR / folder)
            storage.prefix = folder  # type: ignore[attr-defined]  # as Django's own finders do
            for source in sorted(lists.glob(f"*.{SOURCES[folder]}")):
                yield _made(source).name, storage


def script_text(name: str) -> str:
    """The script that `static/js/scripts/` lists under this name, in a function of its own: a page of others keeps its own names. Without
    comments and indentation.
    """
    source: Path = settings.BASE_DIR / "static" / SOURCES[SCRIPTS] / SCRIPTS / f"{name}.js"
    parts = list(_scripts(source))
    return _as_function(tuple(parts), max(part.stat().st_mtime_ns for part in [*parts, source]))


@lru_cache
def _as_function(parts: Sequence[Path], changed: int) -> str:
    """`changed` is there for the cache."""
    text = INDENT.sub("", COMMENT_LINE.sub("", _joined_scripts(parts)))
    return f'(() => {{\n"use strict";\n{text}}})();\n'


def _made(source: Path) -> Path:
    is_script = source.parent.name == SCRIPTS
    parts = list(_scripts(source)) if is_script else list(_parts(source))
    made: Path = settings.VAR_DIR / source.parent.name / source.name
    newest = max(part.stat().st_mtime for part in [*parts, source, Path(__file__)])
    if not made.exists() or made.stat().st_mtime < newest:
        made.parent.mkdir(parents=True, exist_ok=True)
        draft = made.with_suffix(f".{os.getpid()}")
        draft.write_text(_joined_scripts(parts) if is_script else _joined_sheets(parts))
        draft.replace(made)
    return made


def _joined_sheets(parts: Sequence[Path]) -> str:
    text = "".join(IMPORT.sub("", part.read_text()) for part in parts)
    text = BREAK.sub("", INDENT.sub("", COMMENT.sub("", OF_DJANGO.sub(_in_a_layer, text))))
    return PROPERTY.sub(r"\1:", text)


def _joined_scripts(parts: Sequence[Path]) -> str:
    texts = [NEEDED.sub("", part.read_text()) for part in parts]
    return "".join(EXPORT.sub("", text) if EXPORT.search(text) else f"{{\n{text}}}\n" for text in texts)


def _scripts(source: Path) -> dict[Path, None]:
    """What a script imports, each once and after what it needs itself."""
    found: dict[Path, None] = {}
    for match in NEEDED.finditer(source.read_text()):
        part = (source.parent / match["part"]).resolve()
        found |= {each: None for each in (*_scripts(part), part) if each not in found}
    return found


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
