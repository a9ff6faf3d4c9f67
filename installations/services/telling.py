"""Telling merchants, by e-mail, that an app asks for more than they agreed to: once for each approval."""

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

from installations.models import Installation
from installations.queries import asked_scopes, scope_reason
from marketplace.scopes import SCOPES

log = logging.getLogger(__name__)

TOLD_AT_ONCE: Final = 100  # one approval may concern a hundred thousand installations


def tell_merchants(*, now: datetime | None = None) -> int:
    """Mail each merchant whose app was approved with more than they granted. Returns the number of mails.

    Whoever marks an installation empties `reconsent_told_at`. What is told is written down first and the mail
    sent on commit, so that nobody is told twice; a mail server that fails is logged, and the pages under
    `/merchant/` still ask.
    """
    now = now or timezone.now()
    told = 0
    while batch := _tell(now):
        told += batch
    return told


@transaction.atomic
def _tell(now: datetime) -> int:
    untold = Installation.objects.needing_consent().filter(reconsent_told_at=None).order_by("id")
    locked = untold.select_for_update(of=("self",), no_key=True)
    batch = list(
        locked.select_related("app__approved_version", "business__owner").defer("webhook_secret")[
            :TOLD_AT_ONCE
        ]
    )
    Installation.objects.filter(pk__in=[each.pk for each in batch]).update(reconsent_told_at=now)
    transaction.on_commit(partial(_mail, batch))
    return len(batch)


def _mail(installations: Sequence[Installation]) -> None:
    """Over one connection. A closed account is not written to."""
    letters = [(each, _letter(each)) for each in installations if each.business.owner.is_active]
    if not letters:
        return
    try:
        with get_connection() as connection:
            for installation, letter in letters:
                _send(letter, installation, connection)
    except Exception:
        log.exception("The mail server took no letter about permissions; %s were to be sent.", len(letters))


def _send(letter: EmailMessage, installation: Installation, connection: BaseEmailBackend) -> None:
    """One address that is refused must not keep the others from being told.

    A refusal names the address, so that no more than its kind is logged.
    """
    try:
        connection.send_messages([letter])
    except Exception as error:
        log.error(
            "The merchant of installation %s could not be told that an app asks for more: %s",
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
    body = render_to_string("merchant/mail/reconsent.txt", context)
    subject = " ".join(f"{app.name} asks for more permissions in {business.name}".split())
    return EmailMessage(subject, body, None, [business.owner.email])
