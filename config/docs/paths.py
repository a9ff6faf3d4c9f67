"""One operation of the OpenAPI document: what its description says, and what follows from the endpoint."""

import re
from http import HTTPStatus
from typing import Any

from appapi.limits import covers
from common.api_reference import Operation
from common.errors import status_name
from common.json_schema import Schema, identifier
from marketplace.scopes import SCOPES
from stores import schemas
from webhooks import wire_schemas

JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
ACCESS_TOKEN, DEVELOPER_TOKEN, CLIENT = "accessToken", "developerToken", "clientCredentials"

PARAMETER = re.compile(r"\{(\w+)\}")
_PATH_PARAMETERS: dict[str, Schema] = {
    "productId": schemas.PRODUCT_ID,
    "slug": {**schemas.PRODUCT_SLUG, "description": "The name in addresses."},
    "orderId": schemas.ORDER_ID,
    "webhookId": wire_schemas.WEBHOOK_ID,
    "deliveryId": wire_schemas.DELIVERY_ID,
    "appId": identifier("The app.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04"),
}

_WHEN: dict[int, str] = {
    400: "The input is wrong; `details` name each problem of a single field.",
    401: "No credential, or one that is not valid any more.",
    404: "There is no such thing, or it belongs to somebody else.",
    413: "The body is larger than 1 MiB.",
    415: "The body is no JSON.",
    429: "Too many requests; `Retry-After` says when to come again.",
    500: "Something went wrong on the platform's side.",
    503: "The database can't be reached; come again after `Retry-After` seconds.",
}


def written(key: str, operation: Operation, *, credential: str | None, body: Schema | None) -> dict[str, Any]:
    """The Operation Object of `"METHOD /path"`. `body` is the schema of the body as JSON or form."""
    method, path = key.split(" ", 1)
    scope = scope_of(method, path)
    security = [] if credential is None else [{credential: [scope] if scope else []}]
    entry: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": _described(operation, scope),
        "tags": [operation.group],
        "security": security,
        "parameters": _parameters(path, operation),
        "responses": _responses(method, path, operation, credential=credential, scope=scope),
    }
    if body is not None:
        entry["requestBody"] = _request_body(operation, body)
    return entry


def scope_of(method: str, path: str) -> str | None:
    """The scope that the table ties to an endpoint."""
    wanted = _bare(f"{method} {path}")
    return next(
        (scope.name for scope in SCOPES.values() if wanted in map(_bare, scope.endpoints)),
        None,
    )


def _bare(key: str) -> str:
    """Without the names of its parameters, which the tables spell in two ways."""
    return re.sub(r"\{\w+\}|:\w+", "{}", key)


def _described(operation: Operation, scope: str | None) -> str:
    needs = f"Needs the scope `{scope}`." if scope else ""
    return "\n\n".join(part for part in (operation.about, needs) if part)


def _parameters(path: str, operation: Operation) -> list[dict[str, Any]]:
    in_path = {name: _PATH_PARAMETERS[name] for name in PARAMETER.findall(path)}
    return (
        [_parameter("path", name, schema | {"pattern": "^[^/]+$"}) for name, schema in in_path.items()]
        + [_parameter("query", name, schema) for name, schema in operation.query.items()]
        + [_parameter("header", name, schema) for name, schema in operation.headers.items()]
    )


def _parameter(place: str, name: str, schema: Schema) -> dict[str, Any]:
    about = {key: value for key, value in schema.items() if key not in ("description", "examples")}
    parameter = {"name": name, "in": place, "description": schema["description"], "schema": about}
    if place == "path":
        parameter["required"] = True
    return parameter | {"example": schema["examples"][0]}


def _request_body(operation: Operation, body: Schema) -> dict[str, Any]:
    content = {FORM if operation.form else JSON: {"schema": body}}
    if operation.uploads is not None:
        content[MULTIPART] = {"schema": operation.uploads}
    return {"required": operation.body_required, "content": content}


def _responses(
    method: str, path: str, operation: Operation, *, credential: str | None, scope: str | None
) -> dict[str, Any]:
    limited = covers(path)
    answered = operation.answered or ("Done." if operation.answer is None else "What was asked for.")
    success: dict[str, Any] = {"description": answered}
    if operation.answer is not None:
        success["content"] = {JSON: {"schema": operation.answer}}
    headers = {name: _header(schema) for name, schema in operation.answer_headers.items()}
    responses = {str(operation.status): _with_headers(success, headers, limited=limited)}
    for status, when in sorted(_errors(path, operation, credential, scope).items()):
        responses[str(status)] = _error(status, when, limited=limited, oauth=path == "/oauth/token")
    return responses


def _errors(path: str, operation: Operation, credential: str | None, scope: str | None) -> dict[int, str]:
    """Those that follow from what the endpoint reads, overlaid by its own."""
    statuses = {500, 503}
    if credential is not None:
        statuses |= {401}
    if covers(path):
        statuses |= {429}
    if operation.query or operation.body is not None:
        statuses |= {400}
    if operation.body is not None:
        statuses |= {415} if operation.form else {413, 415}
    if PARAMETER.search(path):
        statuses |= {404}
    found = {status: _WHEN[status] for status in statuses}
    if operation.form:
        found[415] = "The body is no form."
    if operation.uploads is not None:
        found[413] = "The body is larger than 1 MiB, with pictures 32 MiB."
    if scope:
        found[403] = f"The token lacks the scope `{scope}`, which `message` names."
    elif credential == DEVELOPER_TOKEN:
        found[403] = "The account is not a developer's."
    return found | dict(operation.errors)


def _error(status: int, when: str, *, limited: bool, oauth: bool) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if status in (429, 503):
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = {"$ref": "#/components/headers/WWW-Authenticate"}
    schema: Schema = {"$ref": f"#/components/schemas/{'OAuthError' if oauth else 'Error'}"}
    media: dict[str, Any] = {"schema": schema}
    if not oauth:
        example = {"statusCode": status, "message": re.sub("`", "", when), "error": status_name(status)}
        media["example"] = example
    return _with_headers({"description": when, "content": {JSON: media}}, headers, limited=limited)


def _with_headers(response: dict[str, Any], headers: dict[str, Any], *, limited: bool) -> dict[str, Any]:
    if limited:
        rate = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
        headers = {name: {"$ref": f"#/components/headers/{name}"} for name in rate} | headers
    return response | {"headers": headers} if headers else response


def _header(schema: Schema) -> dict[str, Any]:
    rest = {key: value for key, value in schema.items() if key not in ("description", "examples")}
    return {"description": schema["description"], "schema": rest}
