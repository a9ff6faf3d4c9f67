"""Builds the common parts of each operation in the OpenAPI document (DRF's `DEFAULT_SCHEMA_CLASS`).

An operation is described beside its view. Its summary and description are the method's docstring, and `@extend_schema`
has its id, body and responses. This class adds what follows from the view: credential and scope, path parameters,
pagination, rate headers and the usual errors. Examples of bodies are built from those of their fields.
"""

from datetime import timedelta
from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import build_examples_list, build_parameter_type, force_instance, get_doc
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers
from rest_framework.fields import Field
from rest_framework.permissions import SAFE_METHODS

from common.errors import ERROR_CODE_HEADER, error_body
from common.rest.deprecation import HEADERS as DEPRECATION_HEADERS
from common.rest.deprecation import Deprecation
from common.rest.fields import Described, Integer, Text, example_of
from common.rest.idempotency import HEADER, KEPT_FOR, MAX_KEY, REPLAYED, REPLAYED_BEFORE_1_0
from common.tracing import REQUEST_ID_HEADER

Schema = dict[str, Any]

NO_NUL, NOT_BLANK = r"^[^\x00]*$", r"^[^\x00]*\S[^\x00]*$"
PAGE_EXAMPLE, LIMIT_EXAMPLE = 1, 10
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
PROBLEMS = {
    400: "The input is wrong; `details` lists the problems of single fields.",
    401: "The credential is missing or no longer valid.",
    404: "It doesn't exist, or belongs to someone else.",
    409: "The Idempotency-Key was used for another call, or its first call still runs.",
    413: "The body is larger than 1 MiB.",
    415: "The body has another Content-Type.",
    429: "Too many requests. Try again after `Retry-After` seconds.",
    500: "Something went wrong on the platform's side.",
    503: "The database can't be reached. Try again after `Retry-After` seconds.",
}


class ErrorDetailSerializer(serializers.Serializer):
    field = Text("The field, by its path.", "items[0].quantity")
    message = Text("What is wrong with it.", "Must be an integer.")


class ErrorSerializer(serializers.Serializer):
    statusCode = Integer("The status.", 404, min_value=400, max_value=599)
    message = Text("What went wrong, for people.", "Product not found")
    error = Text("The status's name.", "Not Found")
    details = ErrorDetailSerializer(many=True, required=False, help_text="Every problem of single fields.")


KEY = build_parameter_type(
    name=HEADER,
    schema={
        "type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": r"^[!-~]([ -~]*[!-~])?$",
        "examples": ["cart-4711"],
    },
    location="header",
    description=(
        "Your own name for this call. Repeated with it within "
        f"{KEPT_FOR // timedelta(hours=1)} hours, the call is carried out once and answered alike."
    ),
)  # fmt: skip
REPLAYED_HEADERS = {
    name: {
        "description": "The response is a copy of the first one.",
        "schema": {"type": "string", "enum": ["true"]},
        **marked,
    }
    for name, marked in ((REPLAYED, {}), (REPLAYED_BEFORE_1_0, {"deprecated": True}))
}


def problem(when: str) -> OpenApiResponse:
    """An error of the common shape. `when` describes its cause."""
    return OpenApiResponse(ErrorSerializer, when)


class PageShape:
    """The common shape of a list, as drf-spectacular expects it from a paginator."""

    def __init__(self, *, default: int, maximum: int) -> None:
        self.default, self.maximum = default, maximum

    def get_paginated_response_schema(self, items: Schema) -> Schema:
        numbers = {
            "total": {"description": "How many there are on all pages.", "minimum": 0},
            "page": {"description": "The number of this page.", "minimum": 1},
            "limit": {"description": "The size of a page.", "minimum": 1},
        }
        fields = {name: {"type": "integer", **schema} for name, schema in numbers.items()}
        properties = {"data": {**items, "description": "Newest first."}, **fields}
        return {"type": "object", "properties": properties, "required": list(properties)}

    def get_schema_operation_parameters(self, view: Any) -> list[Schema]:
        lowered = f"The size of a page. A value above {self.maximum} is lowered to {self.maximum}."
        return [
            _page_parameter("page", "The page, from 1. A page past the end is empty.", 1, PAGE_EXAMPLE),
            _page_parameter("limit", lowered, self.default, LIMIT_EXAMPLE),
        ]

    @staticmethod
    def example(items: list[Any]) -> Schema:
        return {"data": items, "total": 1, "page": PAGE_EXAMPLE, "limit": LIMIT_EXAMPLE}


def _page_parameter(name: str, about: str, default: int, example: int) -> Schema:
    schema = {"type": "integer", "minimum": 1, "default": default, "examples": [example]}
    return build_parameter_type(name=name, schema=schema, location="query", description=about)


class OperationSchema(AutoSchema):
    view: Any  # a JsonView

    def get_operation(self, *args: Any, **options: Any) -> Schema:
        operation = super().get_operation(*args, **options) or {}
        needs = [f"Needs the scope `{scope}`." for scope in self.scopes]
        if right := getattr(self.view, "token_rights", {}).get(self.method):
            needs.append(f"A developer token needs the right `{right.value}`.")
        notes = [str(self.deprecation)] if self.deprecation else []
        operation["description"] = " ".join(filter(None, [operation.get("description"), *needs, *notes]))
        operation.setdefault("security", [])
        operation.setdefault("parameters", [])
        if self.takes_key:
            operation["parameters"].append(KEY)
        return operation

    @property
    def deprecation(self) -> Deprecation | None:
        found: Deprecation | None = self.view.deprecations.get(self.method)
        return found

    def is_deprecated(self) -> bool:
        return self.deprecation is not None

    @property
    def takes_key(self) -> bool:
        return self.view.takes_keys and self.method not in SAFE_METHODS

    @property
    def scopes(self) -> list[str]:
        return [
            scope for requirement in self.get_auth() for scopes in requirement.values() for scope in scopes
        ]

    def get_tags(self) -> list[str]:
        return [self.view.tag]

    def get_summary(self) -> str:
        return self._docstring()[0].removesuffix(".")

    def get_description(self) -> str:  # type: ignore[override]  # as drf-spectacular has it
        return " ".join(self._docstring()[2].split())

    def _docstring(self) -> tuple[str, str, str]:
        return get_doc(getattr(self.view, self.method.lower())).partition("\n\n")

    def _resolve_path_parameters(self, variables: list[str]) -> list[Schema]:
        found = {name: self.view.path_fields[name] for name in variables}
        return [self.parameter(name, field, "path", pattern="^[^/]+$") for name, field in found.items()]

    def parameter(self, name: str, field: Field, location: Any, **options: Any) -> Schema:
        """A parameter that is described by a field."""
        schema = self._map_serializer_field(field, "request")
        about = schema.pop("description")
        return build_parameter_type(name=name, schema=schema, location=location, description=about, **options)

    def json_schema(self, serializer: type[serializers.Serializer]) -> Schema:
        """The JSON Schema (Draft 2020-12) of a serializer without nested serializers."""
        context = {"schema": self}  # else drf-spectacular looks for a schema on the view
        return self._map_serializer(serializer(context=context), "response")

    # Bodies

    def get_request_serializer(self) -> None:
        """None: only `@extend_schema` defines request bodies."""

    def _map_serializer(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> Schema:
        schema: Schema = super()._map_serializer(serializer, direction, bypass_extensions)
        schema.pop("description", None)  # the docstring
        if "properties" not in schema:  # one of several serializers
            return schema
        fields = force_instance(serializer).fields
        for name, part in schema["properties"].items():
            field = fields[name]
            if "oneOf" in part and getattr(field, "allow_blank", False):  # "" may fit both
                part["anyOf"] = part.pop("oneOf")
                for each in part["anyOf"]:
                    if "format" in each and each.get("default") == "":  # a text of that format is never blank
                        del each["default"]
            is_text = isinstance(field, serializers.CharField) and not part.keys() & {
                "format",
                "anyOf",
                "enum",
            }
            if direction == "request" and is_text:
                part.setdefault("pattern", NO_NUL if field.allow_blank else NOT_BLANK)
        return schema | getattr(serializer, "schema", {})

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Schema:
        schema: Schema = super()._map_serializer_field(field, direction, bypass_extensions)
        schema.pop("x-spec-enum-id", None)
        if isinstance(field, serializers.ListSerializer):
            schema |= {} if field.allow_empty else {"minItems": 1}
            schema |= {"maxItems": most} if (most := getattr(field, "max_length", None)) else {}
        return schema | field.schema if isinstance(field, Described) else schema

    def _get_serializer_field_meta(self, field: Any, direction: Any) -> Schema:
        meta: Schema = super()._get_serializer_field_meta(field, direction)
        if field.initial is not None or (
            field.allow_null and not isinstance(field, serializers.BaseSerializer)
        ):
            meta["examples"] = [field.initial]
        if getattr(field.parent, "partial", False):
            meta.pop("default", None)
        return meta

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        name: str = super()._get_serializer_name(serializer, direction, bypass_extensions)
        return name.removeprefix("Patched")

    def _get_examples(self, serializer: Any, direction: Any, media_type: str, *args: Any) -> Schema:
        """The examples of `@extend_schema`, or one built from the serializer's fields."""
        given: Schema = super()._get_examples(serializer, direction, media_type, *args)
        serializer = force_instance(serializer)
        if given or not isinstance(serializer, serializers.BaseSerializer):
            return given
        return build_examples_list([OpenApiExample("Example", self._example(serializer))])

    def _example(self, serializer: Any) -> Any:
        example = example_of(serializer)
        return PageShape.example(example) if isinstance(serializer, serializers.ListSerializer) else example

    def _get_request_body(self, direction: Any = "request") -> Schema | None:
        body: Schema | None = super()._get_request_body(direction)
        return body | {"required": True} if body and self.method == "PUT" else body

    # Responses

    def _get_paginator(self) -> PageShape:
        return PageShape(default=self.view.page_default, maximum=self.view.page_maximum)

    def get_paginated_name(self, serializer_name: str) -> str:
        return f"{serializer_name}List"

    def _get_response_bodies(self, direction: Any = "response") -> Schema:
        responses: Schema = super()._get_response_bodies(direction)
        for status, when in self._usual_problems().items():
            if str(status) not in responses:
                responses[str(status)] = self._get_response_for_code(problem(when), str(status))
        return dict(sorted(responses.items()))

    def _usual_problems(self) -> dict[int, str]:
        """The errors that follow from the endpoint's credential, parameters and body."""
        credential = self.get_auth()
        statuses = {500, 503}
        if credential:
            statuses |= {401}
        if self.view.requests_a_minute or self.view.is_limited:
            statuses |= {429}
        if self.view.path_fields:
            statuses |= {404}
        if self.takes_key:
            statuses |= {400, 409, 429}
        if body := self._get_request_body():
            statuses |= {400, 413, 415} if "application/json" in body["content"] else {400, 415}
        if any(parameter["in"] == "query" for parameter in self._get_parameters()):
            statuses |= {400}
        found = {status: PROBLEMS[status] for status in statuses}
        if self.scopes:
            found[403] = f"The token lacks the scope `{self.scopes[0]}`, which `message` names."
        for permission in self.view.permission_classes:
            if message := getattr(permission, "message", None):
                found[403] = message
        return found

    def _get_response_for_code(self, serializer: Any, status_code: str, *args: Any, **options: Any) -> Schema:
        is_problem = getattr(serializer, "response", None) is ErrorSerializer
        if is_problem and self.view.error_serializer:
            is_problem, serializer = (
                False,
                OpenApiResponse(self.view.error_serializer, serializer.description),
            )
        response: Schema = super()._get_response_for_code(serializer, status_code, *args, **options)
        response["description"] = response["description"] or error_body(int(status_code), "")["error"]
        if is_problem:
            example = error_body(int(status_code), response["description"].replace("`", ""))
            response["content"]["application/json"]["examples"] = {"Example": {"value": example}}
        return response

    def _get_response_headers_for_code(self, status_code: str, direction: Any = "response") -> Schema:
        headers: Schema = super()._get_response_headers_for_code(status_code, direction)
        names = [REQUEST_ID_HEADER, *(RATE_HEADERS if self.view.requests_a_minute else ())]
        names += [ERROR_CODE_HEADER] * (status_code >= "400")
        names += ["Retry-After"] * (status_code in ("429", "503"))
        names += ["WWW-Authenticate"] * (status_code == "401")
        common = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
        replayed = REPLAYED_HEADERS if self.takes_key and status_code < "300" else {}
        return common | (DEPRECATION_HEADERS if self.deprecation else {}) | replayed | headers
