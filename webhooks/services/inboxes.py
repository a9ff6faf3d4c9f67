"""Inboxes: URLs of the platform that receive an app's webhooks from its developer's sandbox store.

An inbox is an ordinary webhook whose URL is ours, so what it shows went through the queue, was signed and was sent by HTTP
like any other delivery. It accepts these deliveries only: the signature must fit a webhook of the sandbox store that was
registered for this URL.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from common.errors import Conflict, NotAllowed, NotFound
from common.ids import id_at, parse_id
from installations.models import Installation
from marketplace.models import App
from webhooks import catalogue
from webhooks.enums import InboxAnswer
from webhooks.models import Inbox, InboxEntry, Webhook
from webhooks.services.registration import change_webhook, check, create_webhook

KEPT: Final = timedelta(days=7)
MOST: Final = 100  # entries of one inbox
MAX_BODY: Final = 256 * 1024  # bytes
FRESH: Final = 300  # seconds that a signature is valid, as the contract advises receivers
REFUSED: Final = "This inbox accepts only webhooks that the platform has signed for it."


def url_of(inbox: Inbox) -> str:
    return f"{settings.BASE_URL}/inbox/{inbox.key}"


def inbox_of(app: App) -> Inbox | None:
    return Inbox.objects.filter(app=app).first()


def webhook_of_inbox(inbox: Inbox, installation: Installation) -> Webhook | None:
    """The webhook by which the inbox receives this installation's events."""
    kept = Webhook.objects.kept().filter(installation=installation, url=url_of(inbox))
    return kept.defer("secret").order_by("id").first()


def wanted_events(installation: Installation) -> list[str]:
    """Everything that the installation may receive now."""
    return catalogue.allowed_by(installation.effective_scopes)


def open_inbox(*, installation: Installation, now: datetime | None = None) -> Inbox:
    """Give the app an inbox, and subscribe it to every event that the app may receive on this sandbox store.

    Safe to repeat, for instance after the scopes have changed: there is one inbox for each app, and one webhook for each
    installation. Not inside a transaction. Raises `Conflict` if the store isn't a sandbox or has 20 webhooks, and `Invalid`
    if this server's own URL can't be a webhook's.
    """
    if not installation.business.is_sandbox:
        raise Conflict("An inbox receives webhooks from a sandbox store only.")
    key = secrets.token_urlsafe(32)
    events = wanted_events(installation)
    check(url=f"{settings.BASE_URL}/inbox/{key}", events=events)
    inbox, _ = Inbox.objects.get_or_create(app_id=installation.app_id, defaults={"key": key})
    webhook = webhook_of_inbox(inbox, installation)
    if webhook is None:
        create_webhook(
            installation=installation, url=url_of(inbox), events=events, description="Your inbox", now=now
        )
    elif webhook.events != events or not webhook.is_active:
        change_webhook(webhook=webhook, changes={"events": events, "is_active": True}, now=now)
    return inbox


def choose_answer(*, inbox: Inbox, answer: str) -> None:
    """What the inbox answers from now on. `answer` is a value of `InboxAnswer`."""
    Inbox.objects.filter(pk=inbox.pk).update(answer=InboxAnswer(answer))


@transaction.atomic
def clear(*, inbox: Inbox) -> None:
    inbox.entries.all().delete()


def find(key: str) -> Inbox:
    """The inbox at a URL. Raises `NotFound`."""
    inbox = Inbox.objects.filter(key=key).first()
    if inbox is None:
        raise NotFound("There is no inbox at this URL.")
    return inbox


@transaction.atomic
def receive(
    *, inbox: Inbox, headers: Mapping[str, str], body: bytes, now: datetime | None = None
) -> InboxAnswer:
    """Store a delivery and return how to answer it. `headers` have their usual names, in any case.

    Raises `NotAllowed` for anything that the platform didn't sign for this inbox in the last five minutes.
    """
    now = now or timezone.now()
    sent = {name.lower(): value for name, value in headers.items()}
    delivery_id = parse_id(sent.get("x-service-event-id", ""))
    webhook = _addressed(inbox, sent.get("x-webhook-id", ""))
    if webhook is None or delivery_id is None or not _is_signed(webhook.secret, sent, body, now):
        raise NotAllowed(REFUSED)
    entry = InboxEntry.objects.create(
        inbox=inbox,
        delivery_id=delivery_id,
        event_type=sent.get("x-webhook-event", "")[:40],
        headers=dict(headers),
        body=body.decode("utf-8", "replace").replace("\x00", ""),
        answer=inbox.answer,
        received_at=now,
    )
    _trim(inbox, now)
    return InboxAnswer(entry.answer)


def remove_old(*, now: datetime | None = None) -> int:
    """Delete entries older than seven days. Returns their number."""
    cutoff = (now or timezone.now()) - KEPT
    removed, _ = InboxEntry.objects.filter(id__lt=id_at(cutoff)).delete()
    return removed


def _addressed(inbox: Inbox, webhook_id: str) -> Webhook | None:
    """The webhook with this id, if it belongs to the inbox. An ended installation's still sends the erasure."""
    if (found := parse_id(webhook_id)) is None:
        return None
    rows = Webhook.objects.kept().filter(pk=found, url=url_of(inbox), installation__app=inbox.app_id)
    return rows.filter(installation__business__is_sandbox=True).first()


def _is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> bool:
    """The check that docs/events.md describes to receivers."""
    timestamp = headers.get("x-webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12):
        return False
    if abs(now.timestamp() - int(timestamp)) > FRESH:
        return False
    expected = hmac.digest(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hex()
    given = headers.get("x-webhook-signature", "")
    return hmac.compare_digest(f"sha256={expected}".encode(), given.encode())


def _trim(inbox: Inbox, now: datetime) -> None:
    """Keep the newest entries."""
    surplus = inbox.entries.order_by("-id").values_list("id", flat=True)[MOST : MOST + 1]
    if last := next(iter(surplus), None):
        inbox.entries.filter(id__lte=last).delete()
