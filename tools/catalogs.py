"""The translations of what a store says to its shoppers: `python -m tools.catalogs` checks them, `--write` brings them up to date.

`locale/<language>/LC_MESSAGES/django.po` is kept by hand, and `django.mo` beside it compiled from it, so that no machine needs GNU
gettext. `--write` adds new texts to the catalogs, removes those that are gone, and compiles. English and the pseudo-language `en-XA`
have no catalog: their compiled ones are made of the texts themselves, those of Django included for `en-XA`. With one of its own, English
is found at the first look, in half the time.
"""

import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import django
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from tools.pseudo_language import PLACEHOLDERS, pseudo
from tools.tracked_files import ROOT, tracked

LANGUAGES: Final = ("de", "fr")
FOLDER: Final = ROOT / "locale"
ENGLISH: Final = FOLDER / "en/LC_MESSAGES/django.mo"
PSEUDO: Final = FOLDER / "en_XA/LC_MESSAGES/django.mo"
OF_DJANGO: Final = Path(django.__file__).parent / "conf/locale/en/LC_MESSAGES/django.po"
EXEMPT: Final = ("tests/", "tools/", "sdk/", "examples/", "benchmarks/")
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
AS_THEY_ARE: Final = ("date format", "time zone")  # contexts of what isn't words
_TAGS: Final = re.compile(r"<[^>]*>")
_STRAIGHT: Final = re.compile(r"[\"']|\.\.\.")
_BREAKABLE_IN_FRENCH: Final = re.compile(r"[ \t\n][:;!?»%]|«[ \t\n]|\S[;!?»]|«\S")


def main() -> int:
    if "--write" in sys.argv:
        write()
    problems = list(check())
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def write() -> None:
    found = extracted()
    for language in LANGUAGES:
        path = po_file(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        catalog = read(language) if path.exists() else Catalog(language)
        catalog.update(found, no_fuzzy_matching=True)
        catalog.obsolete.clear()
        catalog.project, catalog.creation_date, catalog.revision_date = found.project, BEGAN, BEGAN
        path.write_bytes(as_po(catalog))
        path.with_suffix(".mo").write_bytes(as_mo(catalog))
    for path, catalog in made(found).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_mo(catalog))


def check() -> Iterator[str]:
    """What is wrong with the catalogs, each as `path: problem`."""
    found = extracted()
    for language in LANGUAGES:
        path = po_file(language)
        name, catalog = path.relative_to(ROOT), read(language)
        known, wanted = {key(each) for each in catalog if each.id}, {key(each) for each in found if each.id}
        if known != wanted:
            texts = ", ".join(sorted(repr(each[1]) for each in known ^ wanted)[:3])
            yield f"{name}: differs from the sources in {texts}. Run `python -m tools.catalogs --write`."
        for message in catalog:
            if message.id:
                yield from (
                    f"{name}: {message.id!r}: {problem}" for problem in problems_of(message, language)
                )
        if path.with_suffix(".mo").read_bytes() != as_mo(catalog):
            yield f"{name.with_suffix('.mo')}: isn't compiled from {name.name}. Run `python -m tools.catalogs --write`."
    for path, catalog in made(found).items():
        if path.read_bytes() != as_mo(catalog):
            yield f"{path.relative_to(ROOT)}: isn't that of the sources. Run `python -m tools.catalogs --write`."


def problems_of(message: Message, language: str) -> Iterator[str]:
    """What a translation lacks: words, the placeholders and tags of the original, the typography of its language."""
    sources = message.id if isinstance(message.id, tuple) else (message.id,)
    texts = message.string if isinstance(message.string, tuple) else (message.string,)
    if not all(texts):
        yield "isn't translated"
        return
    if message.fuzzy:
        yield "is fuzzy"
    for text in texts:
        if not any(parts(text) == parts(source) for source in sources):
            yield f"{text!r} has other placeholders or tags"
        words = PLACEHOLDERS.sub("", _TAGS.sub("", text))
        if _STRAIGHT.search(words):
            yield f"{text!r} has a straight quote or three dots"
        if language == "fr" and message.context not in AS_THEY_ARE and _BREAKABLE_IN_FRENCH.search(words):
            yield f"{text!r} lacks a no-break space at : ; ! ? « or »"


def parts(text: str) -> list[str]:
    return sorted(PLACEHOLDERS.findall(text) + _TAGS.findall(text))


# --- Reading the sources --------------------------------------------------------------------------


def extracted() -> Catalog:
    """The marked texts of all Python files and templates."""
    catalog = Catalog(project="Extension Platform", creation_date=BEGAN, revision_date=BEGAN)
    for path in map(Path, sorted(tracked())):
        if not str(path).startswith(EXEMPT) and (path.suffix == ".py" or path.parts[0] == "templates"):
            for _line, texts, comments, context in texts_of(path):
                catalog.add(texts, None, [(path.as_posix(), 0)], context=context, auto_comments=comments)
    return catalog


def texts_of(path: Path) -> Iterator[tuple]:
    source = (ROOT / path).read_text()
    if path.suffix != ".py":
        # Django writes the texts as calls of gettext, in lines whose indentation means nothing.
        source = "\n".join(line.strip() for line in templatize(source).splitlines())
    for line, texts, comments, context in extract("python", io.BytesIO(source.encode()), KEYWORDS):
        if texts:
            yield line, texts, comments, context


# --- Writing catalogs -----------------------------------------------------------------------------

BEGAN: Final = datetime(
    2026, 1, 1, tzinfo=UTC
)  # the same at every run, so that files only change with their texts


def po_file(language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES/django.po"


def read(language: str) -> Catalog:
    with po_file(language).open("rb") as file:
        return read_po(file, locale=language)


def key(message: Message) -> tuple:
    return message.context, message.id


def as_po(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_po(file, catalog, width=120, include_lineno=False, ignore_obsolete=True)
    return file.getvalue()


def as_mo(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def made(found: Catalog) -> dict[Path, Catalog]:
    """The compiled catalogs that no translator writes."""
    with OF_DJANGO.open("rb") as file:
        of_django = read_po(file, locale="en")
    words = [each for each in (*of_django, *found) if each.context not in AS_THEY_ARE]
    return {ENGLISH: _said(found, found, str), PSEUDO: _said(found, words, pseudo)}


def _said(found: Catalog, messages: Iterable[Message], say: Callable[[str], str]) -> Catalog:
    catalog = Catalog("en", project=found.project, creation_date=BEGAN, revision_date=BEGAN)
    for message in messages:
        if message.id:
            texts = tuple(map(say, message.id)) if isinstance(message.id, tuple) else say(message.id)
            catalog.add(message.id, texts, context=message.context)
    return catalog


if __name__ == "__main__":
    sys.exit(main())
