"""Bodies that come in chunks, without a Content-Length (RFC 9112 section 7.1).

Django reads as much as the head declares, so that such a body would be taken for an empty one, and a change that it
asks for would be answered as done. waitress puts chunks together by itself; gunicorn hands them on as a stream.
"""

from collections.abc import Callable, Iterable
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

import orjson

from common.errors import error_body

Environ = dict[str, Any]
Start = Callable[..., Any]
Application = Callable[[Environ, Start], Iterable[bytes]]

LARGEST: Final = 32 * 1024 * 1024  # bytes; the largest body that any call takes
PIECE: Final = 64 * 1024
IN_MEMORY: Final = 2 * 1024 * 1024  # bytes; beyond it goes to a file


def with_length(application: Application) -> Application:
    """A WSGI application that is told the length of a body in chunks.

    One byte more than `LARGEST` is enough to have it refused as too large wherever it goes.
    """

    def call(environ: Environ, start: Start) -> Iterable[bytes]:
        if not _is_chunked(environ):
            return application(environ, start)
        with SpooledTemporaryFile(max_size=IN_MEMORY) as body:
            try:
                length = _copy(environ["wsgi.input"], body)
            except OSError:  # which gunicorn's errors of a broken chunk are
                return _unreadable(start)
            body.seek(0)
            environ |= {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
            return application(environ, start)

    return call


def _is_chunked(environ: Environ) -> bool:
    coding = environ.get("HTTP_TRANSFER_ENCODING", "").strip().lower()
    ends_by_itself = bool(environ.get("wsgi.input_terminated"))
    return coding == "chunked" and ends_by_itself and not environ.get("CONTENT_LENGTH")


def _copy(source: IO[bytes], target: IO[bytes]) -> int:
    """Copy up to `LARGEST` bytes and one more. Returns how many there were."""
    length = 0
    while length <= LARGEST and (piece := source.read(min(PIECE, LARGEST + 1 - length))):
        target.write(piece)
        length += len(piece)
    return length


def _unreadable(start: Start) -> list[bytes]:
    start("400 Bad Request", [("Content-Type", "application/json")])
    return [orjson.dumps(error_body(400, "The chunks of the body can't be read."))]
