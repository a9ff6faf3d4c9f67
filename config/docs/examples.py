"""Examples of whole bodies, put together from those of the fields."""

from typing import Any

from common.json_schema import Schema


def resolved(schema: Schema, document: dict[str, Any]) -> Schema:
    """The schema that a `$ref` names, with what stands beside the reference."""
    if "$ref" not in schema:
        return schema
    target: Any = document
    for step in schema["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return resolved(target, document) | {key: value for key, value in schema.items() if key != "$ref"}


def example_of(schema: Schema, document: dict[str, Any]) -> Any:
    """The schema's first example; else one made of its parts."""
    schema = resolved(schema, document)
    if "examples" in schema:
        return schema["examples"][0]
    if "properties" in schema:
        return {name: example_of(part, document) for name, part in schema["properties"].items()}
    if "items" in schema:
        return [example_of(schema["items"], document)]
    raise LookupError(f"No example in {schema}.")
