"""What a valid manifest defines: the fields of the four kinds of definitions, as a table of what they may hold and default to, and the definitions
with these defaults filled in.

Specification, "Extension manifest"; contract section 9, "Manifest".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from extensions.enums import EmbedKind, ExtensionType
from extensions.manifest import values
from extensions.manifest.values import Rule

_PINNED: Final = {EmbedKind.GLOBAL_SCRIPT: ("integrity",)}
_WHOLE: Final = ("timeout", "priority")


@dataclass(frozen=True, slots=True)
class Defined:
    """One definition of a manifest: what a `Definition` row holds. `position` is its place in its list."""

    type: ExtensionType
    key: str
    position: int
    content: dict[str, Any]

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.content.get("name") or self.content.get("title") or self.key)


def definitions_in(document: Mapping[str, Any]) -> Iterator[Defined]:
    """Of a manifest without problems, in its order."""
    for listed, kind in LISTED.items():
        for position, item in enumerate(document.get(listed, [])):
            shape = shape_of(kind, item)
            yield Defined(kind, item[shape.key], position, _content(shape, item))


SETTINGS: Final = ("settingsSchema", "defaultConfig")
"""Checked together, see `extensions.manifest.problems`."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of definition. `key` names the field that tells two of them apart within `listed`.

    `required` and `rules` are by field; a field of neither is unknown. `defaults` fill in what is left out.
    """

    type: ExtensionType
    listed: str
    key: str
    required: tuple[str, ...]
    rules: Mapping[str, Rule]
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fields(self) -> list[str]:
        return [*self.rules, *(SETTINGS if "settingsSchema" in self.defaults else ())]


_CONFIGURED: Final = {"settingsSchema": {"type": "object"}, "defaultConfig": {}}

BLOCK: Final = Shape(
    ExtensionType.BLOCK,
    "blocks",
    "blockType",
    required=("blockType", "name", "renderUrl"),
    rules={
        "blockType": values.key,
        "name": values.name,
        "description": values.description,
        "iconName": values.optional_line,
        "category": values.optional_line,
        "renderUrl": values.frame_url,
    },
    defaults={"description": "", "iconName": "", "category": "Other", **_CONFIGURED},
)
HOOK: Final = Shape(
    ExtensionType.HOOK,
    "hooks",
    "hookPoint",
    required=("hookPoint", "url"),
    rules={
        "hookPoint": values.hook_point,
        "url": values.hook_path,
        "timeout": values.timeout,
        "priority": values.priority,
    },
    defaults={"timeout": 5000, "priority": 100},
)
ADMIN_PAGE: Final = Shape(
    ExtensionType.ADMIN_PAGE,
    "adminPages",
    "pageId",
    required=("pageId", "title", "renderUrl"),
    rules={
        "pageId": values.key,
        "title": values.name,
        "iconName": values.optional_line,
        "renderUrl": values.frame_url,
    },
    defaults={"iconName": ""},
)

URL_OF_KIND: Final[dict[str, str]] = {
    EmbedKind.GLOBAL_SCRIPT: "scriptUrl",
    EmbedKind.FLOATING_WIDGET: "renderUrl",
}


def embed(kind: Any) -> Shape:
    """An embed's URL and position depend on its kind; only a script uses `integrity`. If `kind` is invalid, only what every kind requires is
    checked."""
    used = URL_OF_KIND.get(kind) if isinstance(kind, str) else None
    urls = {name: values.frame_url if name == used else values.unused_url for name in URL_OF_KIND.values()}
    return Shape(
        ExtensionType.EMBED,
        "embeds",
        "embedType",
        required=("embedType", "name", "kind", "position", *([used] if used else [])),
        rules={
            "embedType": values.key,
            "name": values.name,
            "description": values.description,
            "kind": values.embed_kind,
            "position": values.embed_position(kind),
            **urls,
            "integrity": values.unused_integrity if used == "renderUrl" else values.integrity,
        },
        defaults={"description": "", **_CONFIGURED},
    )


LISTED: Final = {
    "blocks": ExtensionType.BLOCK,
    "embeds": ExtensionType.EMBED,
    "hooks": ExtensionType.HOOK,
    "adminPages": ExtensionType.ADMIN_PAGE,
}
"""The manifest's lists, in the order in which things are shown."""

TOP_LEVEL: Final = ("settingsSchema", *LISTED)


def shape_of(kind: ExtensionType, definition: Mapping[str, Any]) -> Shape:
    if kind == ExtensionType.EMBED:
        return embed(definition.get("kind"))
    return {each.type: each for each in (BLOCK, HOOK, ADMIN_PAGE)}[kind]


def _content(shape: Shape, item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the kind, in the table's order: those that the item has, and those with a default. Values that
    an embed's kind doesn't use are left out.
    """
    unused: set[str] = set()
    if shape.type == ExtensionType.EMBED:
        unused = {*URL_OF_KIND.values(), "integrity"} - {*shape.required, *_PINNED.get(item["kind"], ())}
    known = [name for name in shape.fields if name not in unused and (name in item or name in shape.defaults)]
    content = {name: item.get(name, shape.defaults.get(name)) for name in known}
    if not content.get("category", "Other").strip():
        content["category"] = shape.defaults["category"]
    return content | {name: int(content[name]) for name in _WHOLE if name in content}
