"""The mail backend: Django's, by which `EMAIL_URL` has mails sent, with a count of what became of them."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from common.observability.metrics import MAILS


class CountedBackend(BaseEmailBackend):
    """Raises what the other backend raises."""

    def __init__(self, fail_silently: bool = False, **options: Any) -> None:
        super().__init__(fail_silently=fail_silently)
        self._backend = get_connection(settings.EMAIL_SENT_BY, fail_silently=fail_silently, **options)

    def open(self) -> bool | None:
        return self._backend.open()

    def close(self) -> None:
        self._backend.close()

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        try:
            sent = self._backend.send_messages(email_messages) or 0
        except Exception:
            MAILS.labels("failed").inc(len(email_messages))
            raise
        MAILS.labels("sent").inc(sent)
        MAILS.labels("failed").inc(len(email_messages) - sent)
        return sent
