"""A mail server on a port of this machine: real SMTP, with recipients that it refuses."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from email.policy import default
from socketserver import StreamRequestHandler, ThreadingTCPServer
from time import sleep
from typing import Any


class MailServer(ThreadingTCPServer):
    """`refused` has an answer for each recipient that it doesn't take; `taken` the others' mails, in their order.

    `refuses` is the answer for every recipient; a server that hangs accepts connections and says nothing. It looks through each mail
    for `looks` seconds before it says that it has it.
    """

    daemon_threads = allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.refused: dict[str, str] = {}
        self.taken: list[tuple[str, Message]] = []
        self.refuses = ""
        self.hangs = False
        self.looks = 0.0
        self.tls: ssl.SSLContext | None = None  # from the first byte on

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        return self.tls.wrap_socket(connection, server_side=True) if self.tls else connection, address

    def to(self, recipient: str) -> list[Message]:
        return [mail for address, mail in self.taken if address == recipient]


class _Session(StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        recipients: list[str] = []
        if self.server.hangs:
            self.rfile.readline()
            return
        self._say("220 ready")
        while line := self.rfile.readline():
            verb, _, rest = line.decode().strip().partition(" ")
            if verb.upper() == "RCPT":
                address = rest[rest.index("<") + 1 : rest.rindex(">")]
                refusal = self.server.refuses or self.server.refused.get(address)
                recipients += [] if refusal else [address]
                self._say(refusal or "250 OK")
            elif verb.upper() == "DATA":
                self._say("354 go on")
                mail = message_from_bytes(self._text(), policy=default)
                self.server.taken += [(address, mail) for address in recipients]
                recipients = []
                sleep(self.server.looks)
                self._say("250 OK")
            elif verb.upper() == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 OK")

    def _text(self) -> bytes:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b"."))
        return b"".join(lines)

    def _say(self, answer: str) -> None:
        self.wfile.write(f"{answer}\r\n".encode())


@contextmanager
def mail_server(settings: Any) -> Iterator[MailServer]:
    """The platform mails by it."""
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.EMAIL_BACKEND = "common.mails.sending.CountedBackend"
        settings.EMAIL_SENT_BY = "common.mails.sending.PatientBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address[:2]
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        yield server
        server.shutdown()
