"""Sends the mails of `accounts.services.outbox`: the only caller of `common.mails.sending`.

A mail that fails is tried for 24 hours, then kept for two weeks for operators and not tried any more. A row is removed when the
mail server has taken its mail. If the process or the connection dies between these two, or the server's answer takes ten minutes, the mail is sent
a second time with the same Message-ID, by which mailboxes recognize it. One run goes on at a time (`accounts.tasks.send_mails`), so a mail server
that hangs takes one thread of one worker.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import starmap
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from accounts.models import Mail
from accounts.services.outbox import WRITERS, Later, addressed
from accounts.sign_in.limits import may_mail
from common.db.rows import for_each
from common.languages import ENGLISH, speaking
from common.mails.letters import Letter
from common.mails.sending import MailRefused, MailServerFails, connected, give
from common.observability.metrics import MAILS

log = logging.getLogger(__name__)

TRIED_FOR: Final = timedelta(hours=24)  # since it first failed
KEPT_FOR: Final = timedelta(days=14)  # after it was given up
FIRST_PAUSE: Final = timedelta(minutes=1)  # twice as long after each further try
LONGEST_PAUSE: Final = timedelta(minutes=30)
BATCH: Final = 100
WORKS_FOR: Final = 50.0  # seconds in which a run begins another batch


def send_due(*, now: datetime | None = None) -> int:
    """Send what is due. Returns the number of mails. Not while another run goes on."""
    Mail.objects.filter(given_up_at__lt=(now or timezone.now()) - KEPT_FOR).delete()
    until, sent = monotonic() + WORKS_FOR, 0
    while monotonic() < until and (due := list(Mail.objects.due(now or timezone.now())[:BATCH])):
        of_batch, is_away = _send_batch(due, now)
        sent += of_batch
        if is_away and not of_batch:  # else it only ended this connection
            break
    return sent


@dataclass(frozen=True, slots=True)
class Outbox:
    """What there is of one kind of mail."""

    kind: str
    waiting: int
    given_up: int
    oldest_at: datetime | None  # the one that waits longest
    failing_since: datetime | None
    error: str  # of those that fail or were given up


def outboxes() -> list[Outbox]:
    """By kind, for metrics and operators. One statement; nothing for kinds of which no mail waits or was given up."""
    waits = Q(given_up_at=None)
    figures = {
        "waiting": Count("id", filter=waits),
        "given_up": Count("id", filter=~waits),
        "oldest_at": Min("written_at", filter=waits),
        "failing_since": Min("failing_since", filter=waits),
        "last_error": Max("error"),
    }
    rows: Any = Mail.objects.order_by("kind").values("kind").annotate(**figures).values_list("kind", *figures)
    return list(starmap(Outbox, rows))


def _send_batch(due: Sequence[Mail], now: datetime | None) -> tuple[int, bool]:
    """How many were sent, and whether the mail server failed."""
    sent: list[Mail] = []
    try:
        with connected() as connection, speaking(ENGLISH):
            for_each(
                due, lambda mail: _send(mail, connection, now or timezone.now(), sent), task="send_mails"
            )
    except MailServerFails as error:
        log.error("The mail server fails (%s): mails wait for the next run.", error)
        _wait_for_the_server(str(error), now or timezone.now())
        return len(sent), True
    return len(sent), False


def _send(mail: Mail, connection: BaseEmailBackend, now: datetime, sent: list[Mail]) -> None:
    try:
        with transaction.atomic():
            letter = _letter_of(mail)
        if letter is not None:
            number = f"<{mail.pk.hex}@{urlsplit(settings.BASE_URL).hostname}>"
            give(letter.as_mail(connection=connection, headers={"Message-ID": number}))
            sent.append(mail)
    except Later as later:
        _row(mail).update(not_before=later.at, failing_since=None)
        return
    except Exception as error:
        _put_off(mail, error, now)
        if not isinstance(error, MailRefused):
            raise
        log.warning("%s was not sent: %s", mail, error)
        return
    with transaction.atomic():
        writer = WRITERS.get(mail.kind)
        if letter is not None and writer and writer.sent:
            writer.sent(mail)
        _row(mail).delete()


def _letter_of(mail: Mail) -> Letter | None:
    """None for one of no use any more, or for an address that has had enough. That is counted before the first try only."""
    writer = WRITERS.get(mail.kind)
    if writer is None:
        return Letter.from_json(json.loads(mail.content or "{}"))
    draft = writer.write(mail)
    letter = addressed(draft, mail.to) if draft else None
    if letter and writer.limit and mail.tries == 0 and not may_mail(writer.limit, letter.to):
        return None
    return letter


def _put_off(mail: Mail, error: Exception, now: datetime) -> None:
    since = mail.failing_since or now
    pause = min(FIRST_PAUSE * 2 ** min(mail.tries, 10), LONGEST_PAUSE)
    kind = str(error) if isinstance(error, MailRefused | MailServerFails) else type(error).__name__
    values = {"tries": mail.tries + 1, "failing_since": since, "error": kind[:64], "not_before": now + pause}
    _row(mail).update(**values)
    _give_up(_row(mail), now)


def _wait_for_the_server(error: str, now: datetime) -> None:
    Mail.objects.due(now).order_by().filter(failing_since=None).update(failing_since=now, error=error[:64])
    _give_up(Mail.objects.all(), now)


def _give_up(mails: "QuerySet[Mail]", now: datetime) -> None:
    over: Any = mails.filter(given_up_at=None, failing_since__lte=now - TRIED_FOR)
    for mail in over:
        log.warning("%s could not be sent for 24 hours, and is given up: %s", mail, mail.error)
    count = over.update(given_up_at=now, once=None)
    MAILS.labels("given_up").inc(count)


def _row(mail: Mail) -> "QuerySet[Mail]":
    return Mail.objects.filter(pk=mail.pk)
