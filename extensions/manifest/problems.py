"""Everything that is wrong with a manifest, each with its path: `blocks[2].renderUrl`.

Contract, section 6: unknown keys are refused, every error is reported at once. Saving never fetches a URL.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.errors import ErrorDetail
from extensions.enums import ExtensionType
from extensions.json_documents import closest, path_of, problems_of_json, quoted
from extensions.manifest.content import LISTED, TOP_LEVEL, Shape, shape_of
from extensions.manifest.values import Wrong
from extensions.schemas import problems_of_schema, problems_of_values

MAX_BYTES: Final = 256 * 1024  # as JSON without white space
MAX_DEPTH: Final = 64
MAX_OF_EACH: Final = 50  # the rest of a longer list is not checked
MAX_PROBLEMS: Final = 500  # that are listed
SUGGESTED: Final = 20  # unknown keys of one object that a suggestion is looked for; comparing takes time


@dataclass(frozen=True, slots=True)
class Problem:
    """`suggestion` is what was probably meant: of a key where `of_key`, else of the value."""

    path: str
    message: str
    suggestion: str | None = None
    of_key: bool = False

    @property
    def detail(self) -> ErrorDetail:
        return {"field": self.path, "message": self.message}


def problems_of_manifest(document: Any) -> list[ErrorDetail]:
    """As the API lists them; none for a manifest that can be saved."""
    return [problem.detail for problem in find_problems(document)]


def find_problems(document: Any) -> list[Problem]:
    """At most `MAX_PROBLEMS`, and then one that says how many there are."""
    found = every_problem(document)
    return found if len(found) <= MAX_PROBLEMS else [*found[:MAX_PROBLEMS], too_many(len(found))]


def too_many(total: int) -> Problem:
    return Problem("", f"There are {total:,} problems. The first {MAX_PROBLEMS} are listed.")


def every_problem(document: Any) -> list[Problem]:
    """In the order of the manifest's keys. A document that is no bounded JSON object gives that one problem."""
    if not isinstance(document, dict):
        return [Problem("", "The manifest must be a JSON object.")]
    if unfit := problems_of_json(document, "", what="The manifest", most=MAX_BYTES, nesting=MAX_DEPTH):
        return list(_problems(unfit))
    return [*_unknown_keys(document, TOP_LEVEL, ""), *_global_settings(document), *_lists(document)]


def _global_settings(document: dict[str, Any]) -> Iterator[Problem]:
    if "settingsSchema" in document:
        yield from _schema(document["settingsSchema"], "settingsSchema")


def _lists(document: dict[str, Any]) -> Iterator[Problem]:
    for listed, kind in LISTED.items():
        items = document.get(listed, [])
        if not isinstance(items, list):
            yield Problem(listed, "Must be an array.")
            continue
        if len(items) > MAX_OF_EACH:
            yield Problem(listed, f"At most {MAX_OF_EACH} are allowed, not {len(items)}.")
            items = items[:MAX_OF_EACH]
        for index, item in enumerate(items):
            yield from _definition(kind, item, f"{listed}[{index}]")
        yield from _repeated(kind, items, listed)


def _definition(kind: ExtensionType, item: Any, path: str) -> Iterator[Problem]:
    if not isinstance(item, dict):
        yield Problem(path, "Must be an object.")
        return
    shape = shape_of(kind, item)
    yield from _unknown_keys(item, shape.fields, path)
    for name in shape.rules:
        if name in item:
            yield from _tried(shape, name, item[name], path)
        elif name in shape.required:
            yield Problem(f"{path}.{name}", "Is required.")
    if "settingsSchema" in shape.defaults:
        yield from _settings(item, path)


def _tried(shape: Shape, name: str, value: Any, path: str) -> Iterator[Problem]:
    try:
        shape.rules[name](value)
    except Wrong as error:
        yield Problem(f"{path}.{name}", str(error), error.suggestion)


def _settings(item: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """`defaultConfig` may leave out required properties, but what it holds must be valid (contract section 9)."""
    schema, values = item.get("settingsSchema", {"type": "object"}), item.get("defaultConfig", {})
    found = list(_schema(schema, f"{path}.settingsSchema"))
    yield from found
    if not isinstance(values, dict):
        yield Problem(f"{path}.defaultConfig", "Must be an object.")
    elif not found:
        yield from _problems(problems_of_values(schema, values, f"{path}.defaultConfig", partial=True))


def _schema(schema: Any, path: str) -> Iterator[Problem]:
    if not isinstance(schema, dict):
        yield Problem(path, "Must be an object, a JSON Schema.")
    else:
        yield from _problems(problems_of_schema(schema, path))


def _problems(details: Iterable[ErrorDetail]) -> Iterator[Problem]:
    return (Problem(detail["field"], detail["message"]) for detail in details)


def _repeated(kind: ExtensionType, items: list[Any], listed: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        key = shape_of(kind, item).key if isinstance(item, dict) else ""
        value = item.get(key) if key else None
        if not isinstance(value, str):
            continue
        if (earlier := first.setdefault(value, index)) != index:
            message = f"{quoted(value)} is the {key} of {listed}[{earlier}] already. Each may be used once."
            yield Problem(f"{listed}[{index}].{key}", message)


def _unknown_keys(item: Mapping[str, Any], known: Collection[str], path: str) -> Iterator[Problem]:
    for place, name in enumerate(each for each in item if each not in known):
        advice, suggestion = _advice(name, item, list(known) if place < SUGGESTED else [])
        if name == "manifest" and not path:
            advice = 'Send the manifest itself, without "manifest" around it.'
        advice = advice or f"The keys here are: {', '.join(known)}."
        yield Problem(path_of(path, [name]), f"Unknown key. {advice}", suggestion, of_key=True)


def _advice(name: str, item: Mapping[str, Any], known: list[str]) -> tuple[str, str | None]:
    """With what to write instead. A key that is there already must be more alike: it would be there twice."""
    if meant := closest(name, [each for each in known if each not in item]):
        return f"Did you mean {quoted(meant)}?", meant
    if twin := closest(name, [each for each in known if each in item], likeness=0.85):
        return f"Did you mean {quoted(twin)}? It is here too: keep one of them.", None
    return "", None
