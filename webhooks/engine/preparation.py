"""Step 2, prepare: composes requests from the current state of webhooks, apps and events."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db.models import TextField, UUIDField
from django.db.models.functions import Cast
from django.utils import timezone

from common.db.compiled import AmongIds, Compiled, Param, rows_of_each
from common.db.fields import decrypt
from common.observability.metrics import PUT_OFF
from installations.models import SCOPE_FIELDS, with_versions
from webhooks.engine import claims as leases
from webhooks.engine import listeners
from webhooks.engine.claims import Claim
from webhooks.enums import HeldReason
from webhooks.messages import message
from webhooks.messages.message import Message
from webhooks.models import Event, Webhook
from webhooks.queries import destination, may_receive, reason_to_hold

log = logging.getLogger(__name__)

REMEMBERED_SECRETS: Final = 4096
REMEMBERED_WEBHOOKS: Final = 1024
UNSENDABLE_FOR: Final = timedelta(seconds=60)  # until it is tried again

# The columns that `may_receive`, `reason_to_hold` and `destination` read.
_READ: Final = (
    "url", "is_active", "is_app_defined", "disabled_at", "deleted_at",
    *(f"installation__{name}" for name in SCOPE_FIELDS),
)  # fmt: skip

# The SQL is written once: at a steady pace, writing it was the longest part of the time from a commit to the first byte.
# Secrets stay encrypted in these rows, so that one that can't be decrypted doesn't block the others.
_WEBHOOKS: Final[Compiled[Webhook]] = Compiled(
    lambda: (
        Webhook.objects.select_related(*with_versions("installation__"), "installation__business")
        .only(*_READ)
        .annotate(sealed_secret=Cast("secret", TextField()))
        .filter(AmongIds("id", "ids"))
    ),
    remembered=REMEMBERED_WEBHOOKS,
    prepared_as="webhooks_prepare",
)
_EVENTS: Final[Compiled[Event]] = Compiled(
    # A plan for any ids reads all partitions; by the bounds PostgreSQL skips most of them when it begins to execute.
    lambda: Event.objects.filter(
        AmongIds("id", "ids"), id__gte=Param("first", UUIDField()), id__lte=Param("last", UUIDField())
    ),
    prepared_as="webhooks_prepare_events",
)

# The key is the encrypted text, so a changed secret gets a new entry. Decrypting costs as much as signing.
_secret = lru_cache(REMEMBERED_SECRETS)(decrypt)


@dataclass(slots=True)
class PreparedBatch:
    """Requests to send, claims for listeners with their slots, claims to cancel, claims to hold for a disabled webhook or a
    paused app, and claims that can't be sent now.
    """

    messages: list[tuple[Claim, Message]] = field(default_factory=list)
    listened: list[tuple[int, Claim]] = field(default_factory=list)
    unwanted: list[Claim] = field(default_factory=list)
    for_disabled: list[Claim] = field(default_factory=list)
    for_paused: list[Claim] = field(default_factory=list)
    unsendable: list[Claim] = field(default_factory=list)

    def set_aside(self, now: datetime) -> None:
        """Cancel, hold and postpone."""
        if self.unwanted:
            leases.cancel(self.unwanted, now)
        if self.for_disabled:
            leases.hold(self.for_disabled)
        if self.for_paused:
            leases.hold_while_paused(self.for_paused)
        if self.unsendable:
            leases.postpone(self.unsendable, now + UNSENDABLE_FOR)


def prepare(claims: Sequence[Claim], *, by_listener: bool = False) -> PreparedBatch:
    """The requests for one or more claims, by the current webhooks, apps and scopes. One round trip, or two for a listener
    and on SQLite; one more with claims of sandbox stores. `by_listener`: a listener asks, so none is looked for.
    """
    event_ids = {claim.event_id for claim in claims}
    found = rows_of_each(
        (_WEBHOOKS, {"ids": {claim.webhook_id for claim in claims}}),
        (_EVENTS, {"ids": event_ids, "first": min(event_ids), "last": max(event_ids)}),
        prepared=not by_listener,  # web processes may have no sessions of their own
    )
    webhooks, events = ({each.id: each for each in rows} for rows in found)
    listening = {} if by_listener else _listening(webhooks.values())
    prepared, error = PreparedBatch(), None
    for claim in claims:
        webhook, event = webhooks.get(claim.webhook_id), events.get(claim.event_id)
        if webhook is None or event is None:
            prepared.unwanted.append(claim)  # the business has been deleted since
            continue
        try:
            if not may_receive(webhook, event.type):
                _set_aside(claim, reason_to_hold(webhook, event.type), prepared)
            elif slot := listening.get(webhook.installation_id):
                prepared.listened.append((slot, claim))
            else:
                prepared.messages.append((_timed(claim, webhook), _compose(claim, webhook, event)))
        except Exception as caught:
            # One that can't be sent must not block the others, nor later ones for its endpoint.
            error = error or caught
            prepared.unsendable.append(claim)
            PUT_OFF.labels("key" if isinstance(caught, ImproperlyConfigured) else "error").inc()
    if error:  # logged once: a traceback takes milliseconds
        first, *more = (claim.delivery_id for claim in prepared.unsendable)
        log.error("Delivery %s and %s more can't be sent now: %s", first, len(more), error, exc_info=error)
    return prepared


def _timed(claim: Claim, webhook: Webhook) -> Claim:
    return replace(claim, by_store_clock=True) if webhook.installation.goes_by_store_clock else claim


def _listening(webhooks: Iterable[Webhook]) -> dict[UUID, int]:
    """The slot of the listener of each installation that has one. Only a developer's own sandbox and test stores can."""
    installations = (webhook.installation for webhook in webhooks)
    return listeners.find({each.pk: listeners.own(each) for each in installations if each.is_own})


def _set_aside(claim: Claim, reason: HeldReason | None, prepared: PreparedBatch) -> None:
    match reason:
        case HeldReason.DISABLED:
            prepared.for_disabled.append(claim)
        case HeldReason.PAUSED:
            prepared.for_paused.append(claim)
        case None:
            prepared.unwanted.append(claim)


def _compose(claim: Claim, webhook: Webhook, event: Event) -> Message:
    return message.compose(
        event=event,
        delivery_id=claim.delivery_id,
        webhook_id=webhook.id,
        url=destination(webhook),
        secret=_secret(webhook.sealed_secret),  # type: ignore[attr-defined]
        now=timezone.now(),
    )
