"""What the manifest's page in the portal shows beside the text: problems with their lines, outline, sync plan."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from extensions.enums import ExtensionType
from extensions.manifest.content import Defined, definitions_in
from extensions.manifest.differences import about
from extensions.manifest.text import Located, Reading
from extensions.schema_forms import SettingsForm

EXCERPT = 120  # characters of a line
MAX_PREVIEWS = 10


@dataclass(frozen=True, slots=True)
class Shown:
    """A problem for the list above the text. `excerpt` is its line."""

    located: Located
    excerpt: str


@dataclass(frozen=True, slots=True)
class Group:
    """One kind of definition in the outline."""

    title: str
    icon: str
    lines: list[tuple[Defined, str]]


_GROUPS = {
    ExtensionType.BLOCK: ("Blocks", "blocks"),
    ExtensionType.EMBED: ("Embeds", "layout-grid"),
    ExtensionType.HOOK: ("Hooks", "webhook"),
    ExtensionType.ADMIN_PAGE: ("Admin pages", "layout-dashboard"),
}


def shown_problems(text: str, reading: Reading) -> list[Shown]:
    lines = text.split("\n")
    return [Shown(each, lines[each.line - 1].strip()[:EXCERPT]) for each in reading.problems]


def diagnostics(reading: Reading) -> list[dict[str, Any]]:
    """For the editor of the page. Offsets are those of JavaScript's strings only where the text has no character
    beyond the basic plane, so it gets lines and columns too."""
    return [
        {
            "path": each.problem.path,
            "message": each.problem.message,
            "line": each.line,
            "column": each.column,
            "length": each.end - each.start,
            "fix": each.fix,
        }
        for each in reading.problems
    ]


def outline(document: Mapping[str, Any]) -> list[Group]:
    """Of a manifest without problems; kinds that it has none of are left out."""
    all_defined = list(definitions_in(document))
    return [
        Group(title, icon, lines)
        for kind, (title, icon) in _GROUPS.items()
        if (lines := list(_lines(each for each in all_defined if each.type == kind)))
    ]


def previews(document: Mapping[str, Any]) -> list[tuple[str, SettingsForm]]:
    """The settings forms that merchants will see, the first few, each with what it is for. A schema without
    properties makes none."""
    schemas: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("The app", document.get("settingsSchema", {}), {})
    ]
    schemas += [
        (f"{each.type.label} {each.name}", each.content["settingsSchema"], each.content["defaultConfig"])
        for each in definitions_in(document)
        if "settingsSchema" in each.content
    ]
    with_fields = [each for each in schemas if each[1].get("properties")][:MAX_PREVIEWS]
    return [
        (
            title,
            SettingsForm(
                schema, values={}, timezone="UTC", defaults=defaults, prefix=f"preview-{number}", preview=True
            ),
        )
        for number, (title, schema, defaults) in enumerate(with_fields)
    ]


def _lines(all_defined: Iterable[Defined]) -> Iterable[tuple[Defined, str]]:
    return ((each, about(each)) for each in all_defined)
