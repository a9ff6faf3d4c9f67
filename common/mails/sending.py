"""The one place that gives mails to the mail server (contract, section 15, "Mails to strangers").

A mail that can't be written, or whose recipient is refused, is that mail's failure; a mail server that is away is everybody's.
Texts of errors name addresses, so what is raised here says the kind alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend

from common.db.rows import EndsTheRun
from common.mails.backend import is_of_one_mail


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
