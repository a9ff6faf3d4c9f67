"""E-mails to merchants whose app asks for more than they agreed to, one for each approval."""

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.enums import MailKind
from accounts.models import User
from accounts.services.profile import wants_mail
from installations.models import Installation
from installations.queries import asked_scopes, scope_reason
from marketplace.scopes import SCOPES

log = logging.getLogger(__name__)

MAILS_AT_ONCE: Final = 100  # one approval may concern a hundred thousand installations


def notify_merchants(*, now: datetime | None = None) -> int:
    """Mail each merchant whose app was approved with more than they granted. Returns the number of mails.

    `reconsent_notified_at` is empty while a mail is due. It is set first and the mail sent on commit, so that a merchant
    never gets it twice. A failing mail server is logged, and the pages under `/merchant/` still ask.
    """
    now = now or timezone.now()
    sent = 0
    while batch := _notify(now):
        sent += batch
    return sent


@transaction.atomic
def _notify(now: datetime) -> int:
    due = Installation.objects.needing_consent().filter(reconsent_notified_at=None).order_by("id")
    locked = due.select_for_update(of=("self",), no_key=True)
    batch = list(
        locked.select_related("app__approved_version", "business__owner").defer("webhook_secret")[
            :MAILS_AT_ONCE
        ]
    )
    Installation.objects.filter(pk__in=[each.pk for each in batch]).update(reconsent_notified_at=now)
    transaction.on_commit(partial(_mail, batch))
    return len(batch)


def _mail(installations: Sequence[Installation]) -> None:
    """Send the mails over one connection. Closed accounts and those that muted them get none."""
    letters = [(each, _letter(each)) for each in installations if _is_wanted(each.business.owner)]
    if not letters:
        return
    try:
        with get_connection() as connection:
            for installation, letter in letters:
                _send(letter, installation, connection)
    except Exception:
        log.exception("The mail server failed: %s mails about permissions were not sent.", len(letters))


def _is_wanted(owner: User) -> bool:
    return owner.is_active and wants_mail(owner, MailKind.PERMISSION_QUESTIONS)


def _send(letter: EmailMessage, installation: Installation, connection: BaseEmailBackend) -> None:
    """Send one mail. A refused address must not keep the others from getting theirs.

    The error's text names the address, so only its class is logged.
    """
    try:
        connection.send_messages([letter])
    except Exception as error:
        log.error(
            "The merchant of installation %s got no mail about permissions: %s",
            installation.pk,
            type(error).__name__,
        )


def _letter(installation: Installation) -> EmailMessage:
    app, business = installation.app_fields, installation.business
    context = {
        "app": app,
        "business": business,
        "added": [SCOPES[name].sentence for name in asked_scopes(installation)],
        "reason": scope_reason(installation),
        "page": f"{settings.BASE_URL}/merchant/apps/{installation.pk}/permissions/",
    }
    body = render_to_string("installations/mail/reconsent.txt", context)
    subject = " ".join(f"{app.name} asks for more permissions in {business.name}".split())
    return EmailMessage(subject, body, None, [business.owner.email])
