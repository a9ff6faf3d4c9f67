"""The OpenAPI 3.1 document of the service.

drf-spectacular walks the URL conf and reads the serializers; the tables of the apps say the rest. An endpoint that
no table describes, and a description without an endpoint, are errors.
"""

import re
from copy import deepcopy
from functools import cache
from typing import Any, cast

import orjson
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry
from rest_framework.serializers import Serializer

from accounts.authentication import DeveloperAuthentication
from appapi.limits import REQUESTS_A_MINUTE
from common.api_reference import WHOLE, Operation
from common.json_schema import Schema, integer, text
from common.rest.fields import Moment, Text
from config.docs import calls, tables
from config.docs.examples import example_of
from config.docs.paths import ACCESS_TOKEN, CLIENT, DEVELOPER_TOKEN, JSON, PARAMETER, written
from installations import reference as oauth
from installations.authentication import TokenAuthentication
from marketplace.scopes import SCOPES

CREDENTIAL_OF = {TokenAuthentication: ACCESS_TOKEN, DeveloperAuthentication: DEVELOPER_TOKEN}
NOT_BLANK = r"^[^\x00]*\S[^\x00]*$"
PUBLIC = "/.well-known/oauth-authorization-server"  # needs no credential

ABOUT = """What an app may call, what the platform sends it, and how a developer registers apps.

Every error of every call has the schema `Error`, that of `/oauth/token` the one of RFC 6749. Unknown query
parameters and body fields are ignored, and answers may gain fields. Paths work with and without a closing slash."""


class UndescribedEndpoint(Exception):
    """An endpoint is in the URL conf and in no table, or the other way round."""


class OperationSchema(AutoSchema):
    """Describes an endpoint by the tables (`DEFAULT_SCHEMA_CLASS`)."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> dict[str, Any]:
        self.path, self.path_regex, self.path_prefix = path, path_regex, path_prefix
        self.method, self.registry = method.upper(), registry
        key = f"{self.method} {camelized(path)}"
        if key not in tables.OPERATIONS:
            raise UndescribedEndpoint(f"{key} is in no table of `reference.py`.")
        operation = tables.OPERATIONS[key]
        credential = next((CREDENTIAL_OF[each] for each in self.view.authentication_classes), None)
        return written(key, operation, credential=credential, body=self._body(operation))

    def _body(self, operation: Operation) -> Schema | None:
        if operation.body is None or isinstance(operation.body, dict):
            return operation.body
        serializer = cast(Serializer[Any], operation.body(partial=not operation.body_required))
        return self.resolve_serializer(serializer, "request").ref

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        name: str = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return name.removeprefix("Patched")

    def _map_serializer(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> Schema:
        schema: Schema = super()._map_serializer(serializer, direction, bypass_extensions)
        told = dict(tables.BODIES.get(type(serializer), {}))
        whole = told.pop(WHOLE, {})
        properties = schema.get("properties", {})
        if properties.keys() != told.keys():
            name = type(serializer).__name__
            raise UndescribedEndpoint(
                f"BODIES and {name} differ in {sorted(properties.keys() ^ told.keys())}."
            )
        schema["properties"] = {name: merged(properties[name], told[name]) for name in properties}
        if getattr(serializer, "partial", False):
            for field in schema["properties"].values():
                field.pop("default", None)
        schema.pop("description", None)  # the docstring, which speaks to those who read the code
        return schema | whole

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Schema:
        if isinstance(field, Moment):
            return {"type": ["string", "null"] if field.allow_null else "string", "format": "date-time"}
        if type(field).__module__ == "developers.api.serializers" and not _is_known(field):
            return {}  # pictures; the table says all
        schema: Schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if isinstance(field, Text) and not field.allow_blank:
            schema.setdefault("pattern", NOT_BLANK)
        return schema


def _is_known(field: Any) -> bool:
    return isinstance(field, Text) or (hasattr(field, "child") and isinstance(field.child, Text))


def merged(mapped: Schema, told: Schema) -> Schema:
    """What a table tells of a field, joined to what its serializer says; the latter knows the types."""
    joined = {key: value for key, value in mapped.items() if not key.startswith("x-")}
    for key, value in told.items():
        if isinstance(value, dict) and isinstance(joined.get(key), dict):
            joined[key] = merged(joined[key], value)
        elif key != "type" or not joined.keys() & {"type", "oneOf"}:
            joined[key] = value
    if "format" in told and "pattern" not in told:  # the format is the narrower one
        joined.pop("pattern", None)
    if "enum" in joined:  # says it all
        joined.pop("pattern", None), joined.pop("minLength", None)
    return joined


def camelized(path: str) -> str:
    """`/orders/{order_id}` is `/orders/{orderId}`."""
    return PARAMETER.sub(lambda found: re.sub(r"_(\w)", lambda letter: letter[1].upper(), found[0]), path)


def complete(result: dict[str, Any], generator: SchemaGenerator, **_: Any) -> dict[str, Any]:
    """drf-spectacular's post-processing hook: all that is not DRF's."""
    result["paths"] = {camelized(path): item for path, item in result["paths"].items()}
    for key, operation in oauth.OPERATIONS.items():
        method, path = key.split(" ", 1)
        credential = None if path == PUBLIC else CLIENT
        entry = written(key, operation, credential=credential, body=cast(Schema | None, operation.body))
        result["paths"].setdefault(path, {})[method.lower()] = entry
    _check_complete(result["paths"])
    result["components"] = _components(result["components"].get("schemas", {}))
    result["webhooks"] = calls.webhooks()
    result["tags"] = [
        {"name": name, "description": about} for name, about in (tables.GROUPS | calls.GROUPS).items()
    ]
    _order(result)
    _give_examples(result)
    return result


def _check_complete(paths: dict[str, Any]) -> None:
    served = {f"{method.upper()} {path}" for path, item in paths.items() for method in item}
    if spare := tables.OPERATIONS.keys() - served:
        raise UndescribedEndpoint(f"No endpoint belongs to {', '.join(sorted(spare))}.")


def _components(bodies: dict[str, Schema]) -> dict[str, Any]:
    schemas = tables.RECORDS | {"Error": calls.error_schema()} | bodies | calls.components()
    if len(schemas) != len(tables.RECORDS) + 1 + len(bodies) + len(calls.components()):
        raise UndescribedEndpoint("A record and a body share a name.")
    return {"schemas": schemas, "headers": _headers(), "securitySchemes": _security_schemes()}


def _headers() -> dict[str, Any]:
    seconds = integer("Seconds after which to come again.", 12, minimum=0)
    headers = {
        "X-RateLimit-Limit": integer(
            "Requests a minute, over /app-api and /webhooks together.", REQUESTS_A_MINUTE, minimum=1
        ),
        "X-RateLimit-Remaining": integer("How many are left in this window.", 59, minimum=0),
        "X-RateLimit-Reset": integer("The Unix time at which the window ends.", 1795187105, minimum=0),
        "Retry-After": seconds,
        "WWW-Authenticate": text("How to authenticate.", "Bearer"),
    }
    return {
        name: {
            "description": schema["description"],
            "required": True,
            "schema": {key: value for key, value in schema.items() if key not in ("description", "examples")},
            "example": schema["examples"][0],
        }
        for name, schema in headers.items()
    }


def _security_schemes() -> dict[str, Any]:
    scopes = "\n".join(f"- `{scope.name}`: {scope.sentence}" for scope in SCOPES.values())
    return {
        ACCESS_TOKEN: {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "fbat_…",
            "description": f"The token of an installation, from `/oauth/token`. Its scopes:\n\n{scopes}",
        },
        DEVELOPER_TOKEN: {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "A developer's access token, from `/auth/login`.",
        },
        CLIENT: {"type": "http", "scheme": "basic", "description": "Client ID and client secret of an app."},
    }


def _order(result: dict[str, Any]) -> None:
    """Paths in the order of the tables, which is the one to read them in."""
    places = {path: index for index, path in enumerate(key.split(" ", 1)[1] for key in tables.OPERATIONS)}
    result["paths"] = dict(sorted(result["paths"].items(), key=lambda item: places[item[0]]))


def _give_examples(result: dict[str, Any]) -> None:
    """Bodies and answers show an example, made of those of their fields."""
    for path, item in result["paths"].items():
        for method, entry in item.items():
            operation = tables.OPERATIONS[f"{method.upper()} {path}"]
            for kind, media in entry.get("requestBody", {}).get("content", {}).items():
                if kind != "multipart/form-data":
                    media["example"] = body_example(media["schema"], operation, result)
            for response in entry["responses"].values():
                media = response.get("content", {}).get(JSON)
                if media and "example" not in media:
                    media["example"] = example_of(media["schema"], result)


def body_example(schema: Schema, operation: Operation, result: dict[str, Any]) -> Any:
    """What is to be sent; of a body whose fields are all optional, what the description chose."""
    if operation.example and not operation.body_required:
        return dict(operation.example)
    return example_of(schema, result) | operation.example


@cache
def document() -> dict[str, Any]:
    """The whole document. It depends on the settings alone, so it is made once."""
    made = SchemaGenerator(urlconf=settings.ROOT_URLCONF).get_schema(request=None, public=True)
    made["servers"] = [{"url": settings.BASE_URL}]
    return cast(dict[str, Any], deepcopy(made))


@cache
def document_text() -> bytes:
    return orjson.dumps(document(), option=orjson.OPT_INDENT_2)
