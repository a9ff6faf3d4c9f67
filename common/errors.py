"""The errors that services raise, whoever calls them, and the one shape they have on the wire.

A view of the API turns them into JSON (`common.rest`); a page shows their message beside the form.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, TypedDict


class ErrorDetail(TypedDict):
    """One problem of a request: the path of the field (`events[1]`) and what is wrong with it."""

    field: str
    message: str


# RFC 9110 renamed two statuses; Python 3.11's http.HTTPStatus still has the former phrases.
STATUS_NAMES = {413: "Content Too Large", 422: "Unprocessable Content"}


def status_name(status: int) -> str:
    """The status's name in RFC 9110 section 15."""
    if status in STATUS_NAMES:
        return STATUS_NAMES[status]
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"


def error_body(status: int, message: str, details: Sequence[ErrorDetail] = ()) -> dict[str, Any]:
    """The error shape: `{"statusCode", "message", "error"}`, and `details` for a validation error."""
    body: dict[str, Any] = {"statusCode": status, "message": message, "error": status_name(status)}
    if details:
        body["details"] = list(details)
    return body


class ServiceError(Exception):
    """A request that can't be carried out, with the status that an API caller gets."""

    status = 500

    def __init__(self, message: str, details: Sequence[ErrorDetail] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)

    @property
    def headers(self) -> dict[str, str]:
        """What the answer's head must say with it."""
        return {}


class Invalid(ServiceError):
    """400: the input is wrong. Give every problem at once in `details`."""

    status = 400

    @classmethod
    def field(cls, field: str, message: str) -> "Invalid":
        return cls(message, [{"field": field, "message": message}])

    @classmethod
    def fields(cls, problems: Sequence[ErrorDetail]) -> "Invalid":
        """Every problem at once; the message names the fields too, for callers that show nothing else."""
        return cls("; ".join(f"{problem['field']}: {problem['message']}" for problem in problems), problems)


class Unauthenticated(ServiceError):
    """401: no credential, or a bad or revoked one."""

    status = 401

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class NotAllowed(ServiceError):
    """403: we know who asks, and they may not."""

    status = 403


class NotFound(ServiceError):
    """404: absent, or another tenant's."""

    status = 404


class Conflict(ServiceError):
    """409: the state of things stands against it."""

    status = 409


class Refused(ServiceError):
    """422: a merchant's app refused (`order.validate`); `message` is its reason."""

    status = 422


class TooManyRequests(ServiceError):
    """429: asked too often; `retry_after` is in seconds."""

    status = 429

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}
