"""The request that views get. It reads the headers of forms and of what a client accepts in one way for everybody. Also: the credential of
`Authorization: Bearer` (RFC 6750, section 2.1), and where a `next` may lead.
"""

import codecs
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest
from django.http.request import MediaType, QueryDict
from django.utils.functional import cached_property
from django.utils.http import MAX_URL_LENGTH, parse_header_parameters, url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from common.errors import DEFAULT_CODES, Invalid, ServiceError

FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"

_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]|%[89a-fA-F][0-9a-fA-F]")
_REFUSED_CODING: Final = re.compile(r";\s*q\s*=\s*0(\.0*)?\s*$", re.IGNORECASE)


class NotUtf8(ServiceError):
    """415: a form in another encoding than UTF-8."""

    status = 415
    code = "form_not_utf8"

    def __init__(self) -> None:
        super().__init__(_("Send the form in UTF-8. Some of its bytes are in another encoding."))


class EncodedBody(ServiceError):
    """415: a body that is compressed (RFC 9110, section 15.5.16)."""

    status = 415
    code = DEFAULT_CODES[415]

    def __init__(self) -> None:
        super().__init__(_("Send the body without Content-Encoding. Compressed bodies aren't read."))


def refuse_coding(headers: Mapping[str, str]) -> None:
    """Raises `EncodedBody` for the headers of a body that is compressed or otherwise encoded."""
    if headers.get("Content-Encoding", "").strip().lower() not in ("", "identity"):
        raise EncodedBody


class Request(WSGIRequest):
    """Django's request with four differences.

    1. Text is UTF-8, whatever `charset` the Content-Type names, and a form in other bytes is a 415. Django would read the
       query by that charset, and fail for some before any middleware.
    2. An Accept header that can't be read is one that accepts nothing by name.
    3. NUL in a header is a space (RFC 9110, section 5.5).
    4. `Accept-Encoding` has only what the client takes: Django and WhiteNoise look for the word `gzip`, without its weight.
    """

    def __init__(self, environ: dict[str, Any]) -> None:
        _replace_nul(environ)
        if "CONTENT_TYPE" in environ:
            environ["CONTENT_TYPE"] = without_charset(environ["CONTENT_TYPE"])
        if "HTTP_ACCEPT_ENCODING" in environ:
            environ["HTTP_ACCEPT_ENCODING"] = accepted_codings(environ["HTTP_ACCEPT_ENCODING"])
        super().__init__(environ)

    @cached_property
    def accepted_types(self) -> list[MediaType]:
        try:
            return list(super().accepted_types)
        except ValueError:
            return []

    def _load_post_and_files(self) -> None:
        is_form = self.method == "POST" and self.content_type in (FORM, MULTIPART)
        was_read = self._read_started and not hasattr(self, "_body")  # type: ignore[attr-defined]
        if not is_form or was_read:
            return super()._load_post_and_files()
        try:
            self._read_form()
        except Exception:
            self._mark_post_parse_error()  # type: ignore[attr-defined]  # the error page may look at the form again
            raise

    def _read_form(self) -> None:
        refuse_coding(self.headers)
        encoding: Any = self._encoding  # type: ignore[has-type]
        try:
            if self.content_type == FORM:
                _check_utf8(self.body)
            else:
                self._encoding = _UTF8_ONLY
            super()._load_post_and_files()
        except UnicodeDecodeError:
            raise NotUtf8 from None
        finally:
            self._encoding = encoding


class RequestHandler(WSGIHandler):
    request_class = Request


def without_charset(content_type: str) -> str:
    """The media type alone, or with the boundary of a form's parts."""
    media_type = content_type.partition(";")[0].strip()
    if not media_type.lower().startswith("multipart/"):
        return media_type
    try:
        boundary = parse_header_parameters(content_type)[1].get("boundary", "")
    except ValueError:  # a parameter in an encoding that doesn't exist
        boundary = ""
    escaped = boundary.replace("\\", "\\\\").replace('"', '\\"')
    return f'{media_type}; boundary="{escaped}"'


def accepted_codings(header: str) -> str:
    """The codings of an `Accept-Encoding` without those of weight 0 (RFC 9110, section 12.5.3)."""
    return ",".join(coding for coding in header.split(",") if not _REFUSED_CODING.search(coding))


def _replace_nul(environ: dict[str, Any]) -> None:
    with_nul = [name for name, value in environ.items() if name.startswith("HTTP_") and "\0" in value]
    for name in with_nul:
        environ[name] = environ[name].replace("\0", " ")


def _check_utf8(body: bytes) -> None:
    """Raises `UnicodeDecodeError` unless the values of a form are UTF-8. Most have ASCII only, which a search shows sooner."""
    if _BEYOND_ASCII.search(body):
        unquote_to_bytes(body).decode()


def refuse_nul(fields: QueryDict) -> None:
    """Raises `Invalid` for the character that PostgreSQL has no place for in text."""
    for name, values in fields.lists():
        if any("\0" in text for text in (name, *values)):
            message = _("Must not contain the character NUL.")
            raise Invalid.fields([{"field": name.replace("\0", ""), "message": message}])


# Django's parser of multipart forms replaces what it can't decode; it asks the codec of this name, which doesn't.
_UTF8_ONLY: Final = "utf_8_only"


def _utf8_only(name: str) -> codecs.CodecInfo | None:
    if name != _UTF8_ONLY:
        return None
    return codecs.CodecInfo(codecs.lookup("utf-8").encode, _decode, name=_UTF8_ONLY)


def _decode(data: Any, errors: str = "strict", /) -> tuple[str, int]:
    return codecs.utf_8_decode(data, "strict", True)


codecs.register(_utf8_only)


def token_of(header: str) -> str:
    """The token after one or more spaces. Empty if the header is missing or has another form."""
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""


LONGEST: Final = 8192  # characters; no server reads a longer request line
# Characters of a request line, and neither // nor /\ at the beginning, which would be another host.
_PATH: Final = re.compile(r"/[!-.0-\[\]-~][!-\[\]-~]*")


def is_own_page(url: str, request: HttpRequest) -> bool:
    """Whether a URL that came with a request leads to a page of the same host.

    Django's check refuses everything beyond 2,048 characters, which the address of a consent page may have.
    """
    if len(url) > MAX_URL_LENGTH:
        return len(url) <= LONGEST and _PATH.fullmatch(url) is not None
    return url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure())
