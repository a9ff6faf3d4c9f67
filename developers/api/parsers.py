"""Reading a body with pictures."""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import IO, Any, Final

from django.utils.http import parse_header_parameters
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import DataAndFiles, MultiPartParser
from rest_framework.request import Request

MAX_FORM: Final = 32 * 1024 * 1024  # bytes; an icon and five screenshots may have 12 MiB

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
        if int(meta.get("CONTENT_LENGTH") or 0) > MAX_FORM:
            raise FormTooLarge
        body = stream.read()
        check_form(body, boundary_of(media_type or ""))
        return super().parse(BytesIO(body), media_type, parser_context)


def refuse_empty_form(request: Request) -> None:
    """Raise `ParseError` for a form without a body, which is never handed to a parser."""
    if request.stream is None and (request.content_type or "").lower().startswith("multipart/"):
        raise ParseError("The multipart body is empty.", code="malformed_multipart")


def boundary_of(content_type: str) -> bytes:
    """Raises `ParseError` where a Content-Type names no boundary."""
    boundary = parse_header_parameters(content_type)[1].get("boundary", "")
    if not boundary or not boundary.isascii():
        raise ParseError("The Content-Type names no valid boundary.", code="missing_boundary")
    return boundary.encode("ascii")


def check_form(body: bytes, boundary: bytes) -> None:
    """Raise `ParseError` unless the body is one or more named parts and the closing boundary."""
    if not body.startswith(b"--" + boundary):
        raise ParseError("The multipart body does not begin with its boundary.", code="malformed_multipart")
    pieces = list(_pieces(body, b"--" + boundary))
    if not _CLOSE.match(body, pieces[-1][0]):
        raise ParseError(
            "The multipart body does not end with its closing boundary.", code="malformed_multipart"
        )
    if len(pieces) == 1:
        raise ParseError("The multipart body has no parts.", code="malformed_multipart")
    for number, (start, end) in enumerate(pieces[:-1], start=1):
        if not _is_part(body, start, end):
            raise ParseError(f"Part {number} of the multipart body is malformed.", code="malformed_multipart")


def _pieces(body: bytes, delimiter: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of the piece after each delimiter, without copying it."""
    spans = [match.span() for match in re.finditer(re.escape(delimiter), body)]
    ends = [start for start, _ in spans[1:]] + [len(body)]
    return zip((end for _, end in spans), ends, strict=True)


def _is_part(body: bytes, start: int, end: int) -> bool:
    """Whether there are header lines with a field's name, an empty line, and content that a line break ends."""
    head = _PART.match(body, start, end)
    closed = head is not None and body.startswith(b"\r\n", end - 2) and head.end() <= end - 2
    return closed and head is not None and _NAMED.search(head["headers"]) is not None
