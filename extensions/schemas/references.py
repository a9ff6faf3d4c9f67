"""A settings schema without its references: a tree in which each `$ref` is replaced by the schema that it names."""

from collections.abc import Iterator
from copy import copy
from typing import Any, Final
from urllib.parse import unquote

from extensions.json_documents import problems_of_json
from extensions.schemas.keywords import ANNOTATIONS, IN_PLACE, KEYWORDS, Problem, Schema, Steps, children

MAX_LEVELS: Final = 8  # contract, section 6
MAX_PROPERTIES: Final = 100  # contract, section 6; a property that two references name counts twice
MAX_SUBSCHEMAS: Final = 1000  # counted alike
MAX_DEPTH: Final = 50  # subschemas inside each other, `IN_PLACE` ones too: others walk the tree by recursion

REMOTE: Final = "Leads out of this schema. Use a $ref that starts with #/, such as #/$defs/color."
NOWHERE: Final = "Names no schema. Name one that is in this settingsSchema, such as #/$defs/color."
RECURSIVE: Final = "Leads back to itself. A settings form has an end."


def resolved(schema: Any) -> Schema:
    """The schema without references, and only with keywords of the subset.

    Never fails, and never has more than `MAX_SUBSCHEMAS`: what `problems_of_schema` would refuse is left out.
    """
    if not isinstance(schema, dict) or problems_of_json(schema, "", what="A schema"):
        return {}
    return Resolution(schema).tree


class Resolution:
    """`tree` is the schema without references, `subschemas` its parts as they were written and `resolved` without
    references, each by the steps to it.

    Nothing is resolved beyond `MAX_SUBSCHEMAS`, so a fan of references can't grow without limit.
    """

    def __init__(self, root: Schema) -> None:
        self.subschemas = dict(_walk((), root))
        self.resolved: dict[Steps, Any] = {}
        self.problems: list[Problem] = []
        self._pointers = {_pointer(steps): steps for steps in self.subschemas}
        self._count = self._properties = self._levels = self._depth = 0
        self.tree: Schema = self._resolve((), 0, ())
        self._limit(self._levels, MAX_LEVELS, "levels")
        self._limit(self._properties, MAX_PROPERTIES, "properties")
        for steps in self.subschemas:
            if steps not in self.resolved:  # in $defs, and no reference names it
                self._resolve(steps, 0, ())
        self._limit(self._depth, MAX_DEPTH, "subschemas inside each other")
        self._limit(self._count, MAX_SUBSCHEMAS, "subschemas")

    def _resolve(self, steps: Steps, level: int, above: tuple[Steps, ...]) -> Any:
        """One subschema; `above` are those that contain it or refer to it."""
        self.resolved[steps] = tree = self._tree(steps, level, above)
        return tree

    def _tree(self, steps: Steps, level: int, above: tuple[Steps, ...]) -> Any:
        schema = self.subschemas.get(steps, {})
        self._count += 1
        self._levels, self._depth = max(self._levels, level), max(self._depth, len(above))
        if isinstance(schema, bool):
            return schema
        if self._count > MAX_SUBSCHEMAS or len(above) > MAX_DEPTH:
            return {}
        above = (*above, steps)
        tree = {name: copy(value) for name, value in schema.items() if name in KEYWORDS and name[0] != "$"}
        for (keyword, *below), _ in children(tree):
            self._properties += keyword == "properties"
            holder, step = (tree[keyword], below[0]) if below else (tree, keyword)
            holder[step] = self._resolve((*steps, keyword, *below), level + (keyword not in IN_PLACE), above)
        target = self._target(schema.get("$ref"), above)
        return tree if target is None else _joined(self._resolve(target, level, above), tree)

    def _target(self, reference: Any, above: tuple[Steps, ...]) -> Steps | None:
        if not isinstance(reference, str):
            return None
        target = self._pointers.get(unquote(reference))
        if target is not None and target not in above:
            return target
        problem = RECURSIVE if target in above else NOWHERE if reference.startswith("#") else REMOTE
        self.problems.append(((*above[-1], "$ref"), problem))
        return None

    def _limit(self, count: int, most: int, things: str) -> None:
        if count > most:
            self.problems.append(((), f"Has more than {most:,} {things}."))


def _walk(steps: Steps, schema: Any) -> Iterator[tuple[Steps, Any]]:
    if isinstance(schema, dict | bool):
        yield steps, schema
    if isinstance(schema, dict):
        for below, each in children(schema):
            yield from _walk((*steps, *below), each)


def _pointer(steps: Steps) -> str:
    return "#" + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _joined(named: Any, beside: Schema) -> Schema:
    """What a `$ref` names, and the keywords beside it: annotations there replace those of the named one."""
    if isinstance(named, dict) and all(name in ANNOTATIONS for name in beside):
        return named | beside
    return beside | {"allOf": [*beside.get("allOf", []), named]}
