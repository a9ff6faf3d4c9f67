"""One request with libcurl: its options, its response, and the class of its failure.

Used by `common.http.transport`, which runs many at once. libcurl keeps the connections, and only opens them through
`vetted_socket`.
"""

import errno
import os
import socket
import ssl
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from ipaddress import ip_address
from math import ceil
from time import monotonic
from typing import Any, Final, Literal

import certifi
import pycurl
from django.conf import settings

from common.http.addresses import is_allowed_destination
from common.http.exchanges import ErrorClass, Exchange, status_class

SWITCHING_PROTOCOLS: Final = 101
MAX_HEADERS: Final = 32 * 1024  # bytes of a response's headers; more is a failure
IDLE: Final = 15  # seconds after which an idle connection isn't used again
SENT_AT_ONCE: Final = 16 * 1024  # bytes; a handle keeps as much memory. libcurl's own is four times this
KEPT_HEADERS: Final = (
    b"content-type", b"location", b"retry-after", b"content-security-policy", b"x-frame-options", b"set-cookie",
    b"content-encoding",
)  # fmt: skip


class BlockedAddress(OSError):
    """The service may not connect to this address."""


def is_allowed(address: str) -> bool:
    """Whether the service may connect to this address, with the setting for local ones."""
    return _is_allowed(address, settings.ALLOW_LOCAL_DESTINATIONS)


@lru_cache(4096)  # each request asks about all addresses of its name
def _is_allowed(address: str, allow_local: bool) -> bool:
    return is_allowed_destination(ip_address(address), allow_local)


def vetted_socket(family: int, kind: int, protocol: int, address: str) -> socket.socket:
    """A socket for one connection. Every connection passes here with the exact address that it will use, but those to servers of the
    operator's own.
    """
    if not is_allowed(address):
        raise BlockedAddress(f"{address} is not an allowed address.")
    return socket.socket(family, kind, protocol)


class _Copied:
    """A socket of which pycurl takes a copy, closed as soon as it has."""

    def __init__(self, opened: socket.socket) -> None:
        self._fd = opened.detach()

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


class Transfer:
    """A libcurl handle, and the response that it is receiving. Used for one request after another."""

    def __init__(self) -> None:
        self.curl = curl = pycurl.Curl()
        curl.setopt(pycurl.NOSIGNAL, True)
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        curl.setopt(pycurl.PROXY, "")  # none, whatever the environment says
        curl.setopt(pycurl.NETRC, pycurl.NETRC_IGNORED)
        curl.setopt(pycurl.FOLLOWLOCATION, False)
        curl.setopt(pycurl.HTTP_CONTENT_DECODING, False)
        curl.setopt(pycurl.MAXAGE_CONN, IDLE)
        curl.setopt(pycurl.UPLOAD_BUFFERSIZE, SENT_AT_ONCE)
        for option, path in authorities().items():
            curl.setopt(option, path)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open)
        curl.setopt(pycurl.PREREQFUNCTION, self._is_about_to_send)
        curl.setopt(pycurl.HEADERFUNCTION, self._receive_header)
        curl.setopt(pycurl.WRITEFUNCTION, self._receive_body)

    def prepare(
        self,
        *,
        method: Literal["POST", "GET"],
        url: str,
        target: str,
        headers: Sequence[bytes],
        body: bytes,
        max_body: int,
        fresh_connection: bool,
        of_operator: bool,
        resolved: str,
        deadline: float,
    ) -> None:
        """Set the request up. `target` is the path and the query as they are sent, and `headers` are whole lines.
        `resolved` has host, port and addresses as libcurl wants them, or nothing for a literal address. `deadline` is by
        the monotonic clock."""
        curl = self.curl
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.REQUEST_TARGET, target)
        if method == "POST":
            curl.setopt(pycurl.POST, True)
            curl.setopt(pycurl.POSTFIELDS, body)
        else:
            curl.setopt(pycurl.HTTPGET, True)
        curl.setopt(pycurl.HTTPHEADER, headers)
        curl.setopt(pycurl.RESOLVE, [resolved] if resolved else [])
        curl.setopt(pycurl.FRESH_CONNECT, fresh_connection or of_operator)
        curl.setopt(pycurl.FORBID_REUSE, of_operator)  # or a request for others could use it
        self._of_operator = of_operator
        self._lines: list[bytes] = []
        self._header_bytes = 0
        self._has_headers = False
        self._body = bytearray()
        self._max_body = max_body
        self._was_opened = self._was_blocked = False
        self._connected_at: float | None = None
        self._first_byte_at: float | None = None
        self._deadline = deadline
        self._set_timeout()

    def close(self) -> None:
        """Free its memory. Without this it would stay until a garbage collection."""
        self.curl.close()

    def begins_again(self, code: int) -> bool:
        """Whether to run it once more, on a new connection, after it has ended with this code."""
        if code != pycurl.E_ABORTED_BY_CALLBACK:
            return False
        self._set_timeout()
        self.curl.setopt(pycurl.FRESH_CONNECT, True)
        return True

    def _set_timeout(self) -> None:
        left = self._deadline - monotonic()
        self.curl.setopt(pycurl.TIMEOUT_MS, max(1, ceil(left * 1000)))  # 0 would be no end

    def exchange(self, code: int, duration_ms: int) -> Exchange:
        """The outcome, by libcurl's code for the end. A status alone decides over success."""
        status = self.curl.getinfo(pycurl.RESPONSE_CODE) if self._has_headers else 0
        answered = status >= 200
        return Exchange(
            status=status if answered else None,
            headers=_kept(self._lines) if answered else {},
            body=bytes(self._body[: self._max_body]),
            truncated=answered and code != pycurl.E_OK,
            duration_ms=duration_ms,
            error_class=status_class(status) if answered else self._error_class(code, status),
            connected_at=self._connected_at,
            first_byte_at=self._first_byte_at if answered else None,
        )

    def _error_class(self, code: int, status: int) -> ErrorClass:
        """The class of a failure without a response."""
        if code == pycurl.E_OPERATION_TIMEDOUT:
            return "timeout_connect" if self._connected_at is None else "timeout_response"
        if status == SWITCHING_PROTOCOLS:
            return "protocol"
        if code == pycurl.E_COULDNT_CONNECT:
            if self._was_blocked and not self._was_opened:
                return "blocked_address"
            timed_out = self.curl.getinfo(pycurl.OS_ERRNO) == errno.ETIMEDOUT
            return "timeout_connect" if timed_out else "refused"
        return _ERROR_CLASSES.get(code, "protocol")

    # libcurl calls these

    def _open(self, purpose: int, address: Any) -> "_Copied | int":
        try:
            kind = (address.family, address.socktype, address.protocol)
            opened = socket.socket(*kind) if self._of_operator else vetted_socket(*kind, address.addr[0])
        except OSError as error:
            self._was_blocked |= isinstance(error, BlockedAddress)
            return pycurl.SOCKET_BAD
        self._was_opened = True
        return _Copied(opened)

    def _is_about_to_send(self, *_: object) -> int:
        """If a kept-alive connection ends before any byte of the response, libcurl retries the request, maybe on
        another that was kept alive. We retry once, and on a new one, so that it doesn't fail for each of them.
        """
        if self._connected_at is not None and not self._was_opened:
            return pycurl.PREREQFUNC_ABORT
        self._connected_at = monotonic()
        return pycurl.PREREQFUNC_OK

    def _receive_header(self, line: bytes) -> int | None:
        self._header_bytes += len(line)
        if self._header_bytes > MAX_HEADERS:
            return 0
        if line.startswith(b"HTTP/"):  # after one like 100 Continue, those of the response itself
            self._lines.clear()
            self._has_headers, self._first_byte_at = False, monotonic()
        elif line in (b"\r\n", b"\n"):
            self._has_headers = True
        elif not self._has_headers:
            self._lines.append(line)
        return None

    def _receive_body(self, data: bytes) -> int | None:
        self._body += data
        return 0 if len(self._body) > self._max_body else None  # fewer than there were: the rest isn't read


def _kept(lines: Sequence[bytes]) -> dict[str, str]:
    """The headers worth keeping, joined where there are several of a name."""
    kept: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        if (lower := name.strip().lower()) in KEPT_HEADERS:
            text = value.strip().decode("utf-8", "replace")
            key = lower.decode()
            kept[key] = f"{kept[key]}, {text}" if key in kept else text
    return kept


# An unreachable host or network counts as refused. All others are "protocol".
_ERROR_CLASSES: Final[Mapping[int, ErrorClass]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: "dns",
    pycurl.E_GOT_NOTHING: "reset",
    pycurl.E_RECV_ERROR: "reset",
    pycurl.E_SEND_ERROR: "reset",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_SSL_CERTPROBLEM: "tls",
    pycurl.E_SSL_CIPHER: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "tls",
    pycurl.E_SSL_ISSUER_ERROR: "tls",
    pycurl.E_SSL_INVALIDCERTSTATUS: "tls",
}


@cache
def authorities() -> dict[int, str]:
    """The certificate authorities that Python trusts too, by option: the system's, or those of `SSL_CERT_FILE` and
    `SSL_CERT_DIR`. libcurl's own default is a place on the machine that it was built on."""
    paths = ssl.get_default_verify_paths()
    if paths.cafile or not paths.capath:
        return {pycurl.CAINFO: paths.cafile or certifi.where()}
    return {pycurl.CAPATH: paths.capath}
