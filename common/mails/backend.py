"""The mail backend: Django's, by which `EMAIL_URL` has mails sent, with a count of what became of them.

Whatever the platform mails passes here, so here it says that no person wrote it (RFC 3834), so that no absence note answers.
"""

from collections.abc import Sequence
from smtplib import SMTPDataError, SMTPNotSupportedError, SMTPRecipientsRefused
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from common.observability.metrics import MAILS

CLOSING: Final = 421  # the server's answer to anything while it shuts down


class CountedBackend(BaseEmailBackend):
    """Raises what the other backend raises."""

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


def is_of_one_mail(error: Exception) -> bool:
    """Whether the server takes other mails: it refused this recipient or this text, or the mail can't be written."""
    if isinstance(error, SMTPRecipientsRefused):
        return all(code != CLOSING for code, _ in error.recipients.values())
    if isinstance(error, SMTPDataError):
        return error.smtp_code != CLOSING
    return isinstance(error, SMTPNotSupportedError) or not isinstance(error, OSError)
