from typing import Any

import pytest
from django.core.mail import send_mail
from prometheus_client import REGISTRY

from tests.ports import free_port


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("extension_platform_mails_total", {"outcome": outcome}) or 0.0


def test_mails_are_counted_by_outcome(settings: Any) -> None:
    settings.EMAIL_BACKEND = "common.mails.backend.CountedBackend"
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
