"""Reading a body with pictures."""

import re
import shutil
from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any, Final

from django.utils.http import parse_header_parameters
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import DataAndFiles, MultiPartParser
from rest_framework.request import Request

from common.web.middleware.chunked_bodies import LARGEST
from developers.limits import MAX_PARTS

MAX_HEADERS: Final = 4096  # bytes of the header lines of one part
MIN_BOUNDARY: Final = 8  # characters; a shorter one may be in every second line of a file

_PART: Final = re.compile(rb"[ \t]*\r\n(?P<headers>(?:[^\r\n]+\r\n)+)\r\n")
_NAMED: Final = re.compile(
    rb"^content-disposition:[ \t]*form-data[ \t]*;.*\bname=", re.IGNORECASE | re.MULTILINE
)
_CLOSE: Final = re.compile(rb"--[ \t]*(?:\r?\n|\Z)")


class FormTooLarge(APIException):
    status_code = 413
    default_detail = "The body is larger than 32 MiB."
    default_code = "body_too_large"


class PictureFormParser(MultiPartParser):
    """multipart/form-data, refused by its declared length before any of it is stored.

    DRF's own parser reads the valid parts of a broken body and drops the rest, so that half an upload would count as a
    small one. This one refuses a body that doesn't conform to RFC 7578.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> DataAndFiles:
        meta = (parser_context or {})["request"].META
        if int(meta.get("CONTENT_LENGTH") or 0) > LARGEST:
            raise FormTooLarge
        boundary = boundary_of(media_type or "")
        body = BytesIO()
        shutil.copyfileobj(stream, body)  # in pieces: servers make a second copy of what is read at once
        check_form(body.getvalue(), boundary)
        body.seek(0)
        return super().parse(body, media_type, parser_context)


def refuse_empty_form(request: Request) -> None:
    """Raise `ParseError` for a form without a body, which is never handed to a parser."""
    if request.stream is None and (request.content_type or "").lower().startswith("multipart/"):
        raise ParseError("The multipart body is empty.", code="malformed_multipart")


def boundary_of(content_type: str) -> bytes:
    """Raises `ParseError` where a Content-Type names no boundary."""
    boundary = parse_header_parameters(content_type)[1].get("boundary", "")
    if not boundary or not boundary.isascii():
        raise ParseError("The Content-Type names no valid boundary.", code="missing_boundary")
    if len(boundary) < MIN_BOUNDARY:
        raise ParseError(
            f"The boundary in the Content-Type must have at least {MIN_BOUNDARY} characters.",
            code="boundary_too_short",
        )
    return boundary.encode("ascii")


def check_form(body: bytes, boundary: bytes) -> None:
    """Raise `ParseError` unless the body is one to `MAX_PARTS` named parts and the closing boundary.

    Walks from delimiter to delimiter and stops at the first malformed part, so that what is kept doesn't grow with the body.
    """
    delimiter = b"--" + boundary
    if not body.startswith(delimiter):
        raise ParseError("The multipart body does not begin with its boundary.", code="malformed_multipart")
    parts, start = 0, len(delimiter)
    while (end := body.find(delimiter, start)) >= 0:
        parts += 1
        if parts > MAX_PARTS:
            raise ParseError(
                f"The multipart body has more than {MAX_PARTS} parts.", code="malformed_multipart"
            )
        if not _is_part(body, start, end):
            raise ParseError(f"Part {parts} of the multipart body is malformed.", code="malformed_multipart")
        start = end + len(delimiter)
    if not _CLOSE.match(body, start):
        raise ParseError(
            "The multipart body does not end with its closing boundary.", code="malformed_multipart"
        )
    if not parts:
        raise ParseError("The multipart body has no parts.", code="malformed_multipart")


def _is_part(body: bytes, start: int, end: int) -> bool:
    """Whether there are header lines with a field's name, an empty line, and content that a line break ends."""
    head = _PART.match(body, start, min(end, start + MAX_HEADERS))
    closed = head is not None and body.startswith(b"\r\n", end - 2) and head.end() <= end - 2
    return closed and head is not None and _NAMED.search(head["headers"]) is not None
