"""What a valid manifest defines, with the defaults of the specification filled in."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from extensions.enums import EmbedKind, ExtensionType
from extensions.manifest.shapes import LISTED, URL_OF_KIND, Shape, shape_of

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
