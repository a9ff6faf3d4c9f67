"""The one place that gives mails to the mail server (contract, section 15, "Mails to strangers").

A mail that can't be written, or whose recipient is refused, is that mail's failure; a mail server that is away is everybody's.
Texts of errors name addresses, so what is raised here says the kind alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from smtplib import SMTP, SMTP_SSL, SMTPDataError, SMTPNotSupportedError, SMTPRecipientsRefused
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.smtp import EmailBackend

from common.db.rows import EndsTheRun
from common.observability.metrics import MAILS

CLOSING: Final = 421  # the server's answer to anything while it shuts down
TAKES: Final = 600.0  # seconds for the answer to a whole mail: RFC 5321, section 4.5.3.2.6
END_OF_MAIL: Final = b"\r\n.\r\n"


class MailServerFails(EndsTheRun):
    """The mail server can't be reached, or accepts none at the moment."""


class MailRefused(Exception):
    """This mail can't be sent: its recipient was refused, or its address can't be written."""


def give(mail: EmailMessage) -> None:
    """Give a mail to the mail server. Raises `MailServerFails`, and `MailRefused`."""
    try:
        mail.send()
    except Exception as error:
        raised = MailRefused if is_of_one_mail(error) else MailServerFails
        raise raised(type(error).__name__) from None


@contextmanager
def connected() -> Iterator[BaseEmailBackend]:
    """One connection, as `mail.connection` of several mails. Raises `MailServerFails`."""
    connection = get_connection()
    try:
        connection.open()
    except Exception as error:
        raise MailServerFails(type(error).__name__) from None
    try:
        yield connection
    finally:
        connection.close()


class CountedBackend(BaseEmailBackend):
    """Django's, by which `EMAIL_URL` has mails sent, with a count of what became of them. Raises what that backend raises.

    Whatever the platform mails passes here, so here it says that no person wrote it (RFC 3834), and no absence note answers.
    """

    def __init__(self, fail_silently: bool = False, **options: Any) -> None:
        super().__init__(fail_silently=fail_silently)
        self._backend = get_connection(settings.EMAIL_SENT_BY, fail_silently=fail_silently, **options)

    def open(self) -> bool | None:
        try:
            return self._backend.open()
        except Exception:
            MAILS.labels("failed").inc()
            raise

    def close(self) -> None:
        self._backend.close()

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        for each in email_messages:
            each.extra_headers.setdefault("Auto-Submitted", "auto-generated")
        try:
            sent = self._backend.send_messages(email_messages) or 0
        except Exception as error:
            MAILS.labels("refused" if is_of_one_mail(error) else "failed").inc(len(email_messages))
            raise
        MAILS.labels("sent").inc(sent)
        MAILS.labels("failed").inc(len(email_messages) - sent)
        return sent


class PatientBackend(EmailBackend):
    """Django's for SMTP, which waits for the answer to a whole mail longer than for others.

    A server that still looks through a mail takes it in the end, so a sender that gives up before sends it twice. Mails that
    fail silently, such as those about crashes, are never resent, so no request waits for them.
    """

    @property
    def connection_class(self) -> type[SMTP]:
        if self.fail_silently:
            return super().connection_class
        return _PatientSSL if self.use_ssl else _Patient


class _Patient(SMTP):
    def send(self, s: Any) -> None:
        super().send(s)
        assert self.sock is not None, "something was sent by it"
        self.sock.settimeout(TAKES if s[-len(END_OF_MAIL) :] == END_OF_MAIL else self.timeout)


class _PatientSSL(_Patient, SMTP_SSL):
    pass


def is_of_one_mail(error: Exception) -> bool:
    """Whether the server takes other mails: it refused this recipient or this text, or the mail can't be written."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code != CLOSING for code, _ in error.recipients.values())
    if isinstance(error, SMTPDataError):
        return error.smtp_code != CLOSING
    return isinstance(error, SMTPNotSupportedError) or not isinstance(error, OSError)
