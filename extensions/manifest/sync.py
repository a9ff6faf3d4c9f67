"""What a save will do to an app's definitions (specification, "Manifest sync"), and how far that reaches."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from extensions.enums import ExtensionType
from extensions.manifest.content import Defined, definitions_in
from extensions.models import Definition
from marketplace.models import App


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """`defined` is the new definition, or the old one if it is removed. `former` is its row, if it had one."""

    defined: Defined
    former: Definition | None

    @property
    def returns(self) -> bool:
        return self.former is not None and not self.former.is_active


@dataclass(slots=True)
class Changes:
    """By what becomes of them. `moved` only changed their position in the list, which is not reported."""

    created: list[DefinitionChange] = field(default_factory=list)
    updated: list[DefinitionChange] = field(default_factory=list)
    deactivated: list[DefinitionChange] = field(default_factory=list)
    moved: list[DefinitionChange] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.created or self.updated or self.deactivated)


def plan(app: App, document: Mapping[str, Any]) -> Changes:
    """Of a manifest without problems, against what is in force. Writes nothing."""
    rows = {(row.type, row.key): row for row in Definition.objects.filter(app=app)}
    changes = Changes()
    for defined in definitions_in(document):
        row = rows.pop((defined.type, defined.key), None)
        change = DefinitionChange(defined, row)
        if row is None:
            changes.created.append(change)
        elif not row.is_active or not same(row.content, defined.content):
            changes.updated.append(change)
        elif row.position != defined.position:
            changes.moved.append(change)
    changes.deactivated += [DefinitionChange(_as_it_was(row), row) for row in rows.values() if row.is_active]
    return changes


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same text: 1 is not true, and the order of keys counts."""
    return json.dumps(one) == json.dumps(other)


def record(changes: Changes, ids: Mapping[tuple[str, str], UUID]) -> dict[str, list[dict[str, str]]]:
    """As the developer API answers them; `ids` by type and key."""
    return {
        name: [
            {
                "type": str(change.defined.type),
                "key": change.defined.key,
                "id": str(ids[change.defined.type, change.defined.key]),
            }
            for change in getattr(changes, name)
        ]
        for name in ("created", "updated", "deactivated")
    }


def _as_it_was(row: Definition) -> Defined:
    return Defined(ExtensionType(row.type), row.key, row.position, row.content)
