"""How an endpoint is described for those who call it: what the code of the view does not say.

Each app with endpoints has a table `OPERATIONS` in its `reference.py`, by "METHOD /path" with the parameters of its
URL conf in camelCase: "GET /app-api/products/{productId}". `RECORDS` beside it are the named schemas that answers
refer to, `BODIES` what the serializers of bodies do not tell of their fields. `config.docs.openapi` makes the
OpenAPI document of these and of the URL conf; an endpoint without a description is an error there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rest_framework.serializers import BaseSerializer

from common.json_schema import Schema, integer, listing, moment, record, text

# What a description says of the fields of a body, by its serializer; of the body itself under `WHOLE`.
Bodies = Mapping[type[BaseSerializer], Mapping[str, Schema]]
WHOLE = "*"

NO_NUL = r"^[^\x00]*$"


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of an endpoint.

    What follows from the endpoint itself is not repeated here: credential and scope, path parameters, the rate
    headers, and the errors that come with a credential, a body, a query or a path parameter.
    """

    id: str  # in camelCase, unique
    group: str  # the heading that it stands under
    summary: str  # what it does, in a few words
    about: str = ""  # Markdown; what else there is to know
    status: int = 200
    answer: Schema | None = None  # None: an answer without a body
    answered: str = ""  # when this answer comes
    body: type[BaseSerializer] | Schema | None = None
    body_required: bool = True
    form: bool = False  # a body of application/x-www-form-urlencoded
    uploads: Schema | None = None  # the body as multipart/form-data, where that is taken as well
    query: Mapping[str, Schema] = field(default_factory=dict)
    headers: Mapping[str, Schema] = field(default_factory=dict)  # that may be sent
    answer_headers: Mapping[str, Schema] = field(default_factory=dict)  # that may come back
    errors: Mapping[int, str] = field(default_factory=dict)  # those of its own, and when they come
    example: Mapping[str, Any] = field(default_factory=dict)  # of the body, over the examples of its fields


def ref(name: str) -> Schema:
    """A schema of one of the tables `RECORDS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def page_of(name: str, about: str = "Newest first.") -> Schema:
    """A page of a list (specification, "Paginated response shape")."""
    items = {"type": "array", "description": about, "items": ref(name)}
    schema = record(
        total=integer("How many there are on all pages.", 1, minimum=0),
        page=integer("The page that this is.", 1, minimum=1),
        limit=integer("How many records a page holds.", 50, minimum=1),
    )
    schema["properties"] = {"data": items, **schema["properties"]}
    schema["required"] = ["data", *schema["required"]]
    del schema["examples"]  # made of the record's
    return schema


def paging(default: int, maximum: int) -> dict[str, Schema]:
    """The query parameters of a list."""
    lowered = f"How many records a page holds; more than {maximum} is lowered to {maximum}."
    return {
        "page": integer("The page, from 1. One past the end is empty.", 1, minimum=1, default=1),
        "limit": integer(lowered, min(default, 10), minimum=1, default=default),
    }


def words(about: str, example: str, **more: Any) -> Schema:
    """A text to filter by."""
    return text(about, example, maxLength=200, pattern=NO_NUL, **more)


def since(about: str, example: str = "2026-11-01T00:00:00Z") -> Schema:
    """A moment to filter by, or to begin with."""
    return moment(about, example) | {"description": f"{about} ISO 8601 with an offset."}


def counted(about: str, example: int = 1) -> Schema:
    return record(deliveries=integer(about, example, minimum=0))


def names(about: str, allowed: Sequence[str], examples: Sequence[str], **more: Any) -> Schema:
    """A list of some of the allowed names."""
    schema = listing(about, text("One of them.", examples[0], enum=list(allowed)), **more)
    return schema | {"examples": [list(examples)]}
