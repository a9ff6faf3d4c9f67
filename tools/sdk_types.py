"""Makes the types of both SDKs from the OpenAPI document: `python -m tools.sdk_types`.

An app gets a type for each object that it sends or receives: records and bodies of the app API, data of events, data and answers
of hooks. It also gets what handlers are registered with, so that a type checker knows which data belongs to which event
and hook point. A test compares the files with the document.
"""

import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

SDK = Path(__file__).resolve().parent.parent / "sdk"
AN_APPS = ("/app-api", "/webhooks")
JSON = "application/json"

# Lists of more values than this get a name: that of the field where they are met first, or a better one.
UNNAMED = 4
BETTER = {"FeedEventEvent": "SentEvent", "InstallationScope": "Scope"}

Schema = dict[str, Any]


class Field(NamedTuple):
    annotation: str
    required: bool


def class_name(dotted: str) -> str:
    """`order.status_changed` is OrderStatusChanged."""
    return "".join(word.capitalize() for word in re.split(r"[._]", dotted))


class Types(ABC):
    """The source of all types in one language, each after those that it uses."""

    file: ClassVar[Path]
    head: ClassVar[str]
    plain: ClassVar[Mapping[str, str]]
    """Texts, numbers, booleans and null by the words of JSON Schema; `any` and `object` for what is not described."""

    def __init__(self, document: Schema) -> None:
        self.document = document
        self.made: dict[str, str] = {}
        self.lists: dict[frozenset[Any], tuple[str, list[Any]]] = {}

    @abstractmethod
    def literal(self, values: Iterable[Any]) -> str: ...

    @abstractmethod
    def alias(self, name: str, text: str) -> str: ...

    @abstractmethod
    def list_of(self, item: str) -> str: ...

    @abstractmethod
    def map_of(self, value: str) -> str: ...

    @abstractmethod
    def record(self, name: str, fields: Mapping[str, Field]) -> str: ...

    @abstractmethod
    def handlers(self, events: list[str], hooks: list[str]) -> Iterator[str]:
        """What handlers are registered with."""

    @abstractmethod
    def formatted(self, text: str) -> str: ...

    def source(self) -> str:
        return self.formatted(self.head + "\n\n".join(self._parts()) + "\n")

    def _parts(self) -> Iterator[str]:
        sent = {name: call["post"] for name, call in self.document["webhooks"].items()}
        hooks = {name: call for name, call in sent.items() if _of(call["responses"]["2XX"])}
        events = sorted(sent.keys() - hooks.keys())
        self._listed(events, "EventName")
        self._listed(list(hooks), "HookPoint")
        for path, methods in self.document["paths"].items():
            if path.startswith(AN_APPS):
                for operation in methods.values():
                    self._operation(operation)
        for name in events:
            self._object(class_name(name), self._data(sent[name]))
        for name, call in hooks.items():
            self._object(f"{class_name(name)}Data", self._data(call))
            self._object(f"{class_name(name)}Answer", _of(call["responses"]["2XX"]))
        yield "\n\n".join(self.alias(name, self.literal(values)) for name, values in self.lists.values())
        yield from self.made.values()
        yield from self.handlers(events, list(hooks))

    def _operation(self, operation: Schema) -> None:
        contents = [operation.get("requestBody", {})]
        contents += [answer for status, answer in operation["responses"].items() if status.startswith("2")]
        for content in contents:
            if schema := _of(content):
                self._type(schema, f"{class_name(operation['operationId'])}Body")

    def _data(self, call: Schema) -> Schema:
        return self._resolved(_of(call["requestBody"])["properties"]["data"])

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        return schema

    def _type(self, schema: Schema, name: str) -> str:
        """The annotation of a schema. An object without a name of its own gets `name`."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self._type(self._resolved(schema), class_name(name) if "." in name else name)
        if parts := schema.get("allOf"):
            return self._type(next(part for part in parts if "$ref" in part or "properties" in part), name)
        variants = [] if "properties" in schema else schema.get("anyOf") or schema.get("oneOf")
        if variants:
            return _union(self._type(variant, name) for variant in variants)
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if values is not None:
            listed = self._listed([value for value in values if value is not None], name)
            return _union([listed, *([self.plain["null"]] if "null" in kinds else [])])
        return _union(self._kind(schema, kind, name) for kind in kinds) or self.plain["any"]

    def _kind(self, schema: Schema, kind: str, name: str) -> str:
        if kind == "array":
            return self.list_of(self._type(schema.get("items", {}), name.removesuffix("s")))
        if kind != "object":
            return self.plain[kind]
        if "properties" in schema:
            return self._object(name, schema)
        values = schema.get("additionalProperties")
        return self.map_of(self._type(values, name)) if isinstance(values, dict) else self.plain["object"]

    def _listed(self, values: list[Any], name: str) -> str:
        if len(values) <= UNNAMED:
            return self.literal(values)
        return self.lists.setdefault(frozenset(values), (BETTER.get(name, name), values))[0]

    def _object(self, name: str, schema: Schema) -> str:
        if name not in self.made:
            required = schema.get("required", [])
            fields = {
                field: Field(self._type(of, name + field[0].upper() + field[1:]), field in required)
                for field, of in schema.get("properties", {}).items()
            }
            self.made[name] = self.record(name, fields)
        return name


class Python(Types):
    file = SDK / "python" / "extension_platform_sdk" / "types.py"
    head = '''"""Types of what an app sends and receives. Made by `python -m tools.sdk_types` from the OpenAPI document; don't edit.

``Order``, ``Product`` and the like are records of the app API; ``OrderCreated`` is the ``data`` of the event
``order.created``; ``OrderValidateData`` and ``OrderValidateAnswer`` belong to the hook ``order.validate``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Protocol, TypedDict, overload

if TYPE_CHECKING:
    from .envelope import HookCall, WebhookEvent

'''
    plain: ClassVar = {
        "string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None",
        "any": "Any", "object": "dict[str, Any]",
    }  # fmt: skip

    def literal(self, values: Iterable[Any]) -> str:
        return f"Literal[{', '.join(map(_quoted, values))}]"

    def alias(self, name: str, text: str) -> str:
        return f"{name} = {text}"

    def list_of(self, item: str) -> str:
        return f"list[{item}]"

    def map_of(self, value: str) -> str:
        return f"dict[str, {value}]"

    def record(self, name: str, fields: Mapping[str, Field]) -> str:
        annotated = {
            field: text if required else f"NotRequired[{text}]" for field, (text, required) in fields.items()
        }
        if all(field.isidentifier() for field in fields):
            lines = [f"    {field}: {text}" for field, text in annotated.items()] or ["    pass"]
            return "\n".join([f"class {name}(TypedDict):", *lines])
        pairs = ", ".join(f'"{field}": {text}' for field, text in annotated.items())
        return f'{name} = TypedDict("{name}", {{{pairs}}})'

    def handlers(self, events: list[str], hooks: list[str]) -> Iterator[str]:
        def of_event(data: str) -> str:
            return f"Callable[[WebhookEvent[{data}]], object]"

        def of_hook(data: str, answer: str) -> str:
            return f"Callable[[HookCall[{data}]], {answer}]"

        yield self._registration("OnEvent", "event", "EventName", of_event("Any"), {
            name: of_event(class_name(name)) for name in events
        })  # fmt: skip
        yield self._registration("OnHook", "hook_point", "HookPoint", of_hook("Any", "Any"), {
            name: of_hook(f"{class_name(name)}Data", f"{class_name(name)}Answer") for name in hooks
        })  # fmt: skip

    def _registration(
        self, name: str, argument: str, names: str, of_several: str, handlers: Mapping[str, str]
    ) -> str:
        lines = [
            f"class {name}(Protocol):",
            f'    """Registers a handler by {argument.replace("_", " ")}."""',
        ]
        accepted = {f"{argument}: {self.literal([value])}, /": handler for value, handler in handlers.items()}
        accepted[f"first: {names}, second: {names}, /, *more: {names}"] = of_several
        for arguments, handler in accepted.items():
            returned = f"Callable[[{handler}], {handler}]"
            lines += ["    @overload", f"    def __call__(self, {arguments}) -> {returned}: ..."]
        return "\n".join(lines)

    def formatted(self, text: str) -> str:
        command = [Path(sys.executable).with_name("ruff"), "format", "--stdin-filename", str(self.file), "-"]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


class TypeScript(Types):
    file = SDK / "node" / "types.d.ts"
    head = """/**
 * Types of what an app sends and receives. Made by `python -m tools.sdk_types` from the OpenAPI document; don't edit.
 *
 * `Order`, `Product` and the like are records of the app API; `OrderCreated` is the `data` of the event `order.created`;
 * `OrderValidateData` and `OrderValidateAnswer` belong to the hook `order.validate`.
 */

"""
    plain: ClassVar = {
        "string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null",
        "any": "unknown", "object": "Record<string, unknown>",
    }  # fmt: skip

    def literal(self, values: Iterable[Any]) -> str:
        return " | ".join(map(_quoted, values))

    def alias(self, name: str, text: str) -> str:
        return f"export type {name} =\n  | " + text.replace(" | ", "\n  | ") + ";"

    def list_of(self, item: str) -> str:
        return f"Array<{item}>" if " | " in item else f"{item}[]"

    def map_of(self, value: str) -> str:
        return f"Record<string, {value}>"

    def record(self, name: str, fields: Mapping[str, Field]) -> str:
        lines = [
            f"  {field if field.isidentifier() else _quoted(field)}{'' if required else '?'}: {text};"
            for field, (text, required) in fields.items()
        ]
        return "\n".join([f"export interface {name} {{", *lines, "}"])

    def handlers(self, events: list[str], hooks: list[str]) -> Iterator[str]:
        def members(of: Callable[[str], str], names: list[str]) -> str:
            return "".join(f'  "{name}": {of(class_name(name))};\n' for name in names)

        pair = "{{ data: {0}Data; answer: {0}Answer }}".format
        yield f"/** The data of each event. */\nexport interface Events {{\n{members(str, events)}}}"
        yield f"/** What each hook asks and expects. */\nexport interface Hooks {{\n{members(pair, hooks)}}}"

    def formatted(self, text: str) -> str:
        return text


def _of(content: Schema) -> Schema:
    found: Schema = content.get("content", {}).get(JSON, {}).get("schema", {})
    return found


def _union(texts: Iterable[str]) -> str:
    """Each type once. The types inside of a list stay as they are."""
    return " | ".join(dict.fromkeys(re.split(r" \| (?![^\[<]*[\]>])", " | ".join(texts))))


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


LANGUAGES: tuple[type[Types], ...] = (Python, TypeScript)


def main() -> None:
    from developers.docs.openapi.document import document

    for language in LANGUAGES:
        language.file.write_text(language(document()).source())


if __name__ == "__main__":
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("DEBUG", "1")  # a new clone has no keys
    django.setup()
    main()
