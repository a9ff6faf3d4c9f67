"""Bounds what the body of a form costs to read, and accepts bodies that are sent in chunks."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

import orjson
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse

from common.errors import ERROR_CODE_HEADER, error_body
from common.files import disks
from common.ids import new_id
from common.tracing import REQUEST_ID_HEADER

FORM: Final = "application/x-www-form-urlencoded"
MAX_ESCAPES: Final = 100_000  # `%E9`, for each of which Python keeps some 250 bytes while it reads the form


def check_escapes(body: bytes) -> None:
    """Raise `RequestDataTooBig` for a urlencoded form with more escapes than a form of ours can have."""
    if body.count(b"%") > MAX_ESCAPES:
        raise RequestDataTooBig(f"The form has more than {MAX_ESCAPES} escaped characters.")


def check_form(request: HttpRequest) -> None:
    """`check_escapes` of the form that `request.POST` is going to be."""
    if request.method == "POST" and request.content_type == FORM:
        check_escapes(request.body)


class FormBodyMiddleware:
    """`check_form` for pages. APIs check where they read a form."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        check_form(request)
        return self.get_response(request)


# --- Bodies in chunks --------------------------------------------------------------------------------

# Django reads only as much as Content-Length declares, so it would treat such a body as empty (Django ticket 35838).
# waitress joins the chunks itself, but gunicorn passes them on as a stream.

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]

LARGEST: Final = (
    32 * 1024 * 1024
)  # bytes; the largest body that any endpoint accepts: an icon and five screenshots may have 12 MiB
PIECE: Final = 64 * 1024
IN_MEMORY: Final = 2 * 1024 * 1024  # bytes; larger bodies go to a file


def with_length(application: Application) -> Application:
    """Wrap a WSGI application so that it gets the length of a chunked body.

    Reading stops one byte after `LARGEST`, which is enough for every endpoint to refuse the body as too large.
    """

    def call(environ: Environ, start: Start) -> Iterable[bytes]:
        if not _is_chunked(environ):
            return application(environ, start)
        body = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  its end may fail, too
        try:
            length = _copy(environ["wsgi.input"], body)
            body.seek(0)
        except OSError as error:  # includes gunicorn's errors for a broken chunk
            with suppress(OSError):  # of what is still to be written to a full disk
                body.close()
            return _storage_full(start) if disks.is_full(error) else _unreadable(start)
        with body:
            environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
            return application(environ, start)

    return call


def _is_chunked(environ: Environ) -> bool:
    coding = environ.get("HTTP_TRANSFER_ENCODING", "").strip().lower()
    ends_by_itself = bool(environ.get("wsgi.input_terminated"))
    return coding == "chunked" and ends_by_itself and not environ.get("CONTENT_LENGTH")


def _copy(source: IO[bytes], target: IO[bytes]) -> int:
    """Copy up to `LARGEST` bytes and one more. Returns how many were copied."""
    length = 0
    while length <= LARGEST and (piece := source.read(min(PIECE, LARGEST + 1 - length))):
        target.write(piece)
        length += len(piece)
    return length


def _unreadable(start: Start) -> list[bytes]:
    return _refused(start, "400 Bad Request", "The chunks of the body can't be read.", "broken_chunks")


def _storage_full(start: Start) -> list[bytes]:
    retry = ("Retry-After", str(disks.RETRY_AFTER))
    return _refused(start, "503 Service Unavailable", disks.MESSAGE, disks.CODE, retry)


def _refused(start: Start, status: str, message: str, code: str, *headers: tuple[str, str]) -> list[bytes]:
    named = [
        ("Content-Type", "application/json"),
        (REQUEST_ID_HEADER, str(new_id())),
        (ERROR_CODE_HEADER, code),
    ]
    start(status, [*named, *headers])
    return [orjson.dumps(error_body(int(status[:3]), message))]
