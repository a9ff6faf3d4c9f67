"""Turns exceptions into the error shape (contract, section 0)."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.db import DataError
from django.http import Http404
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, UnsupportedMediaType, ValidationError
from rest_framework.response import Response

from common import errors
from common.db.outages import CANCELED, LOCKED, is_outage, sqlstate_of
from common.files import disks

log = logging.getLogger(__name__)

RETRY_AFTER_DATABASE = 5  # seconds
RETRY_AFTER_LOCK = 1


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's `EXCEPTION_HANDLER`. It handles every exception, so that none becomes an HTML page."""
    if isinstance(error, ValidationError):
        details = list(field_errors(error.detail))
        return _response(errors.Invalid.code, 400, errors.summary(details), details)
    code = code_of(error)
    if isinstance(error, UnsupportedMediaType):
        return _response(code, error.status_code, _media_type_advice(context))
    if isinstance(error, APIException):
        return _response(code, error.status_code, str(error.detail), headers=_headers(error))
    if isinstance(error, errors.ServiceError):
        return _response(code, error.status, error.wire_message, error.details, error.headers)
    status, message = status_and_message(error)
    if status >= 500:
        log.error("%s while answering %s", type(error).__name__, _path(context), exc_info=error)
    return _response(code, status, message, headers=headers_of(error))


def status_and_message(error: Exception) -> tuple[int, str]:
    """The status and message for any exception, for APIs and pages."""
    if isinstance(error, errors.ServiceError):
        return error.status, error.message
    if isinstance(error, Http404):
        return 404, _("Not found")
    if isinstance(error, PermissionDenied):
        return 403, str(error) or _("You may not do this.")
    if isinstance(error, RequestDataTooBig):
        return 413, _("The body is too large.")
    if isinstance(error, DisallowedHost):
        return 400, "Unknown host name."
    if isinstance(error, SuspiciousOperation | MultiPartParserError):
        return 400, _("The request can't be understood.")
    if outage := _outage(error):
        return outage.status, outage.message
    if isinstance(error, SessionInterrupted):
        return 400, "You were signed out in the meantime. Sign in again."
    if isinstance(error, DataError) and "NUL" in str(error):  # of a form's field that no form checks
        return 400, _("Text must not contain the character NUL.")
    if isinstance(error, OverflowError) and "SQLite" in str(error):  # likewise; PostgreSQL finds no such row
        return 400, _("A number is too large.")
    if isinstance(error, BadRequest):
        return 400, _("The request can't be understood.")
    return 500, _("Something went wrong on our side. It has been recorded.")


def code_of(error: Exception) -> str:
    """The code for any exception: the one that it names, or else the one of its status."""
    if isinstance(error, errors.ServiceError):
        return error.code
    if isinstance(error, APIException):
        named = getattr(error.detail, "code", error.default_code)
        return str(named) if named != type(error).default_code else errors.default_code(error.status_code)
    if isinstance(error, DisallowedHost):
        return "unknown_host"
    outage = _outage(error)
    return outage.code if outage else errors.default_code(status_and_message(error)[0])


def headers_of(error: Exception) -> dict[str, str]:
    """Response headers for an exception: when to retry, how to authenticate."""
    if isinstance(error, errors.ServiceError):
        return error.headers
    outage = _outage(error)
    return outage.headers if outage else {}


def _outage(error: Exception) -> errors.Unavailable | None:
    """What an error means that is no fault of the request."""
    if disks.is_full(error):
        return errors.Unavailable(_(disks.MESSAGE), retry_after=disks.RETRY_AFTER, code=disks.CODE)
    return held_up(error) if is_outage(error) else None


def held_up(error: Exception) -> errors.Unavailable:
    """What it means that the database didn't answer: another request holds a lock, the question was too much for it, or it is away."""
    state = sqlstate_of(error)
    if state in LOCKED:
        message = _("Another request is changing the same at the moment. Try again in a few seconds.")
        return errors.Unavailable(message, retry_after=RETRY_AFTER_LOCK, code="locked")
    if state == CANCELED:
        message = _("This takes the database too long at the moment. Try again in a few seconds.")
        return errors.Unavailable(message, retry_after=RETRY_AFTER_DATABASE, code="database_too_slow")
    message = _("The database can't be reached right now. Try again in a few seconds.")
    return errors.Unavailable(message, retry_after=RETRY_AFTER_DATABASE, code="database_unreachable")


def field_errors(detail: Any, path: str = "") -> Iterator[errors.ErrorDetail]:
    """Flatten DRF's nested details into paths: `items[1].quantity`."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            yield from field_errors(inner, _join(path, key))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from field_errors(inner, f"{path}[{index}]" if nested else path)
    else:
        yield {"field": path, "message": str(detail)}


def _join(path: str, key: object) -> str:
    if key == "non_field_errors":
        return path
    if isinstance(key, int):  # the index of a bad item in a ListField
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)


def _media_type_advice(context: Mapping[str, Any]) -> str:
    accepted = " or ".join(parser.media_type for parser in context["view"].parser_classes)
    sent = context["request"].content_type
    if not sent:
        return f"The Content-Type header is missing. Send {accepted}."
    return f'Content-Type "{sent}" is not accepted. Send {accepted}.'


def _headers(error: APIException) -> dict[str, str]:
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return headers


def _path(context: Mapping[str, Any]) -> str:
    request = context.get("request")
    return f"{request.method} {request.path}" if request is not None else "a request"


def _response(
    code: str,
    status: int,
    message: str,
    details: list[errors.ErrorDetail] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    named = {errors.ERROR_CODE_HEADER: code, **(headers or {})}
    return Response(errors.error_body(status, message, details or []), status=status, headers=named)
