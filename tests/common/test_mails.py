import ast
from pathlib import Path
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPSenderRefused
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.mail import mail_admins, send_mail
from prometheus_client import REGISTRY

from common.mails.sending import is_of_one_mail
from tests.mail_server import mail_server
from tests.ports import free_port


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("extension_platform_mails_total", {"outcome": outcome}) or 0.0


def test_mails_are_counted_by_outcome(settings: Any) -> None:
    settings.EMAIL_BACKEND = "common.mails.sending.CountedBackend"
    before = {outcome: counted(outcome) for outcome in ("sent", "failed")}
    settings.EMAIL_SENT_BY = "django.core.mail.backends.locmem.EmailBackend"
    send_mail("Hello", "", None, ["dana@example.com"])
    settings.EMAIL_SENT_BY = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()
    with pytest.raises(ConnectionRefusedError):
        send_mail("Hello", "", None, ["dana@example.com"])
    send_mail("Hello", "", None, ["dana@example.com"], fail_silently=True)
    assert counted("sent") == before["sent"] + 1
    assert counted("failed") == before["failed"] + 2


def test_every_mail_says_that_no_person_wrote_it(settings: Any) -> None:
    settings.ADMINS = [("Ops", "ops@example.com")]
    with mail_server(settings) as server:
        send_mail("Hello", "", None, ["dana@example.com"])
        mail_admins("Crash", "")
    assert [mail["Auto-Submitted"] for _, mail in server.taken] == ["auto-generated"] * 2


def test_refused_recipients_are_no_failures_of_the_server(settings: Any) -> None:
    """Anybody can order under a made-up address: that must not alarm the operator."""
    before = {outcome: counted(outcome) for outcome in ("sent", "failed", "refused")}
    with mail_server(settings) as server:
        server.refused["gone@example.com"] = "550 no such user"
        for address in ("gone@example.com", "kim@example.com\u202c"):
            with pytest.raises((SMTPRecipientsRefused, UnicodeError)):
                send_mail("Hello", "", None, [address])
    assert counted("refused") == before["refused"] + 2
    assert counted("failed") == before["failed"]


@pytest.mark.parametrize(
    ("error", "is_one_mails"),
    [
        (SMTPRecipientsRefused({"a@b.example": (450, b"later")}), True),
        (SMTPRecipientsRefused({"a@b.example": (421, b"closing")}), False),
        (SMTPDataError(554, b"spam"), True),
        (SMTPDataError(421, b"closing"), False),
        (SMTPSenderRefused(530, b"sign in", "no-reply@b.example"), False),
        (TimeoutError(), False),
        (UnicodeError(), True),
    ],
)
def test_errors_are_of_one_mail_or_of_the_server(error: Exception, is_one_mails: bool) -> None:
    assert is_of_one_mail(error) == is_one_mails


def test_one_module_sends_mails_and_one_addresses_them() -> None:
    """So that no other loses a mail, or lets an error through that names an address, or mails somebody who doesn't want it."""
    root = Path(django_settings.BASE_DIR)
    senders, callers, writers = set(), set(), set()
    roots = "accounts activity appapi common conformance developers extensions installations marketplace merchants storefront stores"
    for folder in (*roots.split(), "storeapi", "streams", "teststores", "webhooks", "config"):
        for file in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                    is_of_mail = node.func.attr == "send_messages" or (
                        node.func.attr == "send" and not node.args and not node.keywords
                    )
                    senders |= {str(file.relative_to(root))} if is_of_mail else set()
                elif isinstance(node, ast.ImportFrom):
                    names = {each.name for each in node.names}
                    is_caller = node.module == "common.mails.sending" or (
                        node.module == "django.core.mail"
                        and names & {"send_mail", "mail_admins", "mail_managers"}
                    )
                    callers |= {str(file.relative_to(root))} if is_caller else set()
                    is_writer = node.module == "common.mails.letters" and "letter" in names
                    writers |= {str(file.relative_to(root))} if is_writer else set()
    assert senders == {"common/mails/sending.py"}
    assert callers == {"accounts/services/sender.py"}
    assert writers == {"accounts/services/outbox.py"}
