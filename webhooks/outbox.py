"""From claims to requests: what is read from the database at the moment of sending."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils import timezone

from common.fields import decrypt
from installations.models import JUDGED_BY
from webhooks import message
from webhooks.claims import Claim
from webhooks.message import Message
from webhooks.models import Event, Webhook
from webhooks.queries import destination, may_receive, must_wait

log = logging.getLogger(__name__)

REMEMBERED: Final = 4096

# Of a webhook: what `may_receive`, `must_wait` and `destination` look at.
_READ: Final = (
    "url", "is_active", "is_app_defined", "disabled_at", "deleted_at",
    *(f"installation__{name}" for name in JUDGED_BY),
)  # fmt: skip

# By the text in the column, so that a changed secret is another one. Decrypting costs as much as signing.
_secret = lru_cache(REMEMBERED)(decrypt)


@dataclass(slots=True)
class Prepared:
    """What is to be sent, what must not be sent any more, and what is held for a disabled webhook."""

    messages: list[tuple[Claim, Message]] = field(default_factory=list)
    unwanted: list[Claim] = field(default_factory=list)
    kept: list[Claim] = field(default_factory=list)


def prepare(claims: Sequence[Claim]) -> Prepared:
    """The requests for what has been claimed, as webhooks, apps and scopes stand now. Two statements."""
    webhooks = _webhooks({claim.webhook_id for claim in claims})
    events = Event.objects.in_bulk({claim.event_id for claim in claims})
    prepared = Prepared()
    for claim in claims:
        webhook, event = webhooks.get(claim.webhook_id), events.get(claim.event_id)
        if webhook is None or event is None:
            continue  # deleted with its business since we claimed it, and the delivery too
        try:
            if may_receive(webhook, event.type):
                prepared.messages.append((claim, _compose(claim, webhook, event)))
            elif must_wait(webhook):
                prepared.kept.append(claim)
            else:
                prepared.unwanted.append(claim)
        except Exception:
            # One that can't be sent must not hold up the others. It comes again with the end of its lease.
            log.exception("Delivery %s can't be sent as things stand.", claim.delivery_id)
    return prepared


def _compose(claim: Claim, webhook: Webhook, event: Event) -> Message:
    return message.compose(
        event=event,
        delivery_id=claim.delivery_id,
        webhook_id=webhook.id,
        url=destination(webhook),
        secret=_secret(webhook.sealed_secret),  # type: ignore[attr-defined]
        now=timezone.now(),
    )


def _webhooks(ids: set[UUID]) -> dict[UUID, Webhook]:
    """The webhooks as they are now, with what `may_receive` reads.

    Their secrets come sealed, so that one that can't be decrypted does not keep the others from being read.
    """
    found = (
        Webhook.objects.select_related("installation__app__approved_version", "installation__business")
        .only(*_READ)
        .annotate(sealed_secret=Cast("secret", TextField()))
        .filter(id__in=ids)
    )
    return {webhook.id: webhook for webhook in found}


@lru_cache(REMEMBERED)
def host(url: str) -> str:
    """The host that the URL names; nothing where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
