"""Parses the bodies of API requests, and renders JSON responses."""

import zlib
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import IO, Any

import orjson
from rest_framework import parsers
from rest_framework.exceptions import APIException, ParseError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from common.text.nesting import MAX_DEPTH, MAX_VALUES, has_too_many_values, is_too_deep
from common.web.middleware.bodies import check_escapes
from common.web.requests import refuse_coding

MAX_BODY = 1024 * 1024  # bytes
GZIP = ("gzip", "x-gzip")  # RFC 9110, section 8.4.1.3
RAW_BODY = "common.rest.raw_body"  # what was parsed, in the request's environ


class BodyTooLarge(APIException):
    status_code = 413
    default_detail = "The body is larger than 1 MiB."
    default_code = "body_too_large"


class JsonParser(parsers.BaseParser):
    """Strict JSON (no NaN, no broken UTF-8) with an object on the outside, at most 1 MiB, 50,000 values and 64 levels deep."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        body = self.read(stream, parser_context)
        if parser_context:
            parser_context["request"].META[RAW_BODY] = body
        if len(body) > MAX_BODY:
            raise BodyTooLarge
        if not body.strip():
            return {}
        document = read_json(body)
        if not isinstance(document, dict):
            raise ParseError("The body must be a JSON object.", code="json_not_object")
        return document

    def read(self, stream: IO[Any], parser_context: Mapping[str, Any] | None) -> bytes:
        """The body, and no more of it than is needed to see that it is too large."""
        found: bytes = stream.read(MAX_BODY + 1)
        return found


class PackedJsonParser(JsonParser):
    """Also takes a body with `Content-Encoding: gzip`, whose unpacked size counts. `PackedJson` lets it through."""

    def read(self, stream: IO[Any], parser_context: Mapping[str, Any] | None) -> bytes:
        body = super().read(stream, parser_context)
        if not parser_context or not is_packed(parser_context["request"].headers):
            return body
        if len(body) > MAX_BODY:
            raise BodyTooLarge
        return unpacked(body)


class FormParser(parsers.FormParser):
    """A urlencoded form of at most 1 MiB."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        body = stream.read(MAX_BODY + 1)
        if len(body) > MAX_BODY:
            raise BodyTooLarge
        check_escapes(body)
        return super().parse(BytesIO(body), media_type, parser_context)


def is_packed(headers: Mapping[str, str]) -> bool:
    return headers.get("Content-Encoding", "").strip().lower() in GZIP


def unpacked(body: bytes) -> bytes:
    """A gzip file unpacked, to one byte beyond the limit. Raises `ParseError` for one that is broken, cut off, or followed by more."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        found = unpacker.decompress(body, MAX_BODY + 1)
    except zlib.error as error:
        raise ParseError("The body is not valid gzip.", code="invalid_gzip") from error
    if len(found) <= MAX_BODY and (not unpacker.eof or unpacker.unused_data):
        raise ParseError("The body is not one whole gzip file.", code="invalid_gzip")
    return found


def read_json(body: bytes) -> Any:
    """The document in a body. Raises `ParseError` if it is not JSON, nested too deep or has too many values."""
    if has_too_many_values(body):
        raise ParseError(f"The body has more than {MAX_VALUES:,} values.", code="too_many_values")
    too_deep = ParseError(f"The body is nested more than {MAX_DEPTH} levels deep.", code="json_too_deep")
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if str(error).startswith("depth limit"):  # orjson's own limit, far beyond ours
            raise too_deep from error
        raise ParseError(f"The body is not valid JSON: {error}", code="invalid_json") from error
    if is_too_deep(body, document):
        raise too_deep
    return document


# --- Renders JSON responses --------------------------------------------------------------------------


class JsonRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data)


class AlwaysJson(BaseContentNegotiation):
    """API paths always respond with JSON, even to a client that asks for HTML."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        self.check_coding(request)
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def check_coding(self, request: Request) -> None:
        refuse_coding(request.headers)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, renderer.media_type or "application/json"


class PackedJson(AlwaysJson):
    """For views that take compressed bodies (`PackedJsonParser`)."""

    def check_coding(self, request: Request) -> None:
        if not is_packed(request.headers):
            super().check_coding(request)
