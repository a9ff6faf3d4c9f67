"""Validating responses against the OpenAPI document, in which no field may be missing."""

import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from developers.docs.openapi.document import document
from developers.docs.openapi.samples import PARAMETER

SCHEMAS = "#/components/schemas/"


def validate(method: str, path: str, response: Any) -> None:
    """Raises if the response is not one that the document describes, or has a field that is not in it.

    A method or path that is not served must be a 405 or 404.
    """
    operation = document()["paths"].get(template_of(path), {}).get(method.lower())
    if operation is None:
        assert response.status_code in (404, 405) or method.lower() in ("head", "options")
        return
    content = operation["responses"][str(response.status_code)].get("content")
    if content is None:
        assert response.content == b""
        return
    if "application/json" not in content:
        assert response.headers["Content-Type"] in content
        return
    schema = closed(content["application/json"]["schema"])
    checker = Draft202012Validator.FORMAT_CHECKER
    Draft202012Validator({**schema, "$defs": components()}, format_checker=checker).validate(response.json())


def template_of(path: str) -> str | None:
    """`/app-api/orders/{orderId}` for the path of a call. One without a parameter comes first."""
    path = path.partition("?")[0].removesuffix("/")
    templates = sorted(document()["paths"], key=lambda each: each.count("{"))
    return next((each for each in templates if re.fullmatch(PARAMETER.sub("[^/]+", each), path)), None)


@cache
def components() -> Any:
    return closed(document()["components"]["schemas"])


def closed(schema: Any) -> Any:
    """The schema as an independent one that allows no other fields."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema.replace(SCHEMAS, "#/$defs/") if isinstance(schema, str) else schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if isinstance(schema.get("properties"), dict) else inner
