"""The errors that services raise, and their shape in the API.

API views turn them into JSON (`common.rest`). Pages show their messages in the form. Programs tell errors apart by their
code: `raise Conflict("…", code="too_many_webhooks")`. `developers.docs.errors` has a row for each.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Self, TypedDict

from django.core.exceptions import ValidationError
from django.db.models import Model


class ErrorDetail(TypedDict):
    """One problem of a request: the path of the field (`events[1]`) and a message."""

    field: str
    message: str


# RFC 9110 renamed three statuses, and Python 3.11's http.HTTPStatus still has the old phrases.
STATUS_NAMES = {413: "Content Too Large", 416: "Range Not Satisfiable", 422: "Unprocessable Content"}


ERROR_CODE_HEADER: Final = "X-Error-Code"

# The code of an error that names none, by its status.
DEFAULT_CODES: Final = {
    400: "malformed_request", 401: "invalid_token", 403: "not_allowed", 404: "not_found", 405: "method_not_allowed",
    409: "conflict", 410: "gone", 413: "body_too_large", 415: "unsupported_media_type", 416: "range_not_satisfiable",
    422: "unprocessable", 429: "rate_limited", 500: "internal_error", 503: "unavailable",
}  # fmt: skip


def default_code(status: int) -> str:
    return DEFAULT_CODES.get(status) or DEFAULT_CODES[500 if status >= 500 else 400]


class Coded(str):
    """A message that has a code, for a reason that is found in one place and raised in another."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, message: str, *, code: str) -> Self:
        text = super().__new__(cls, message)
        text.code = code
        return text


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


def summary(details: Sequence[ErrorDetail]) -> str:
    """`items[0].quantity: Must be at least 1. (and 2 more)`."""
    if not details:
        return "The input is invalid."
    field, message = details[0]["field"], details[0]["message"]
    first = f"{field}: {message}" if field else message
    return first if len(details) == 1 else f"{first} (and {len(details) - 1} more)"


class ServiceError(Exception):
    """A request that can't be carried out, with the status and the code that an API caller gets.

    Without `code` it has the code of a `Coded` message, or else that of its class.
    """

    status = 500
    code = DEFAULT_CODES[500]

    def __init__(self, message: str, details: Sequence[ErrorDetail] = (), *, code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.details = list(details)
        self.code = code or getattr(message, "code", "") or type(self).code

    @property
    def wire_message(self) -> str:
        """`message`, or a summary with field names if the message only repeats the details."""
        sentences = " ".join(problem["message"] for problem in self.details)
        return summary(self.details) if self.details and self.message == sentences else self.message

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the error response."""
        return {}


class Invalid(ServiceError):
    """400: the input is wrong. `details` should list all problems."""

    status = 400
    code = "validation_failed"

    @classmethod
    def field(cls, field: str, message: str, *, code: str = "") -> "Invalid":
        return cls(message, [{"field": field, "message": message}], code=code)

    @classmethod
    def fields(cls, problems: Sequence[ErrorDetail]) -> "Invalid":
        """An error with these problems. The message has the fields too, for callers that don't show `details`."""
        return cls("; ".join(f"{problem['field']}: {problem['message']}" for problem in problems), problems)


class Unauthenticated(ServiceError):
    """401: no credential, or a bad or revoked one."""

    status = 401
    code = DEFAULT_CODES[401]

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class NotAllowed(ServiceError):
    """403: the caller is known but not allowed."""

    status = 403
    code = DEFAULT_CODES[403]


class NotFound(ServiceError):
    """404: absent, or another tenant's."""

    status = 404
    code = DEFAULT_CODES[404]


class NotInBody(NotFound):
    """404: a thing that the body names is absent. Repeated under an `Idempotency-Key` it stays so, other than one of the path."""


class Conflict(ServiceError):
    """409: the current state doesn't allow it."""

    status = 409
    code = DEFAULT_CODES[409]


class Gone(ServiceError):
    """410: it was there, and has been removed for good."""

    status = 410
    code = DEFAULT_CODES[410]


class RangeNotSatisfiable(ServiceError):
    """416: the part of a file that was asked for is not there."""

    status = 416
    code = DEFAULT_CODES[416]

    def __init__(self, message: str, size: int) -> None:
        super().__init__(message)
        self.size = size

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Range": f"bytes */{self.size}"}


class Refused(ServiceError):
    """422: a merchant's app refused (`order.validate`). `message` is the app's reason."""

    status = 422
    code = "refused_by_app"


class RetryLater(ServiceError):
    """The same request may succeed later; `retry_after` is in seconds."""

    def __init__(self, message: str, *, retry_after: int, code: str = "") -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class ConflictForNow(RetryLater):
    """409: the current state doesn't allow it, and soon will."""

    status = 409
    code = DEFAULT_CODES[409]


class TooManyRequests(RetryLater):
    """429: too many requests."""

    status = 429
    code = DEFAULT_CODES[429]


class Unavailable(RetryLater):
    """503: not possible at this moment. Nothing was changed."""

    status = 503
    code = DEFAULT_CODES[503]


def field_problems(instance: Model, names: Mapping[str, str]) -> list[ErrorDetail]:
    """The problems of the fields in `names`, which maps each to the caller's name for it:

    `{"customer_name": "customer.name"}`.
    """
    others = {field.name for field in instance._meta.fields} - names.keys()
    try:
        instance.clean_fields(exclude=others)
    except ValidationError as error:
        return [
            {"field": names[column], "message": message}
            for column, messages in error.message_dict.items()
            for message in messages
        ]
    return []


def check_fields(instance: Model, names: Mapping[str, str]) -> None:
    """Raise `Invalid` with every problem that `field_problems` finds."""
    if problems := field_problems(instance, names):
        raise Invalid.fields(problems)
