"""What the portal shows of an inbox."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from common.text.nesting import indented
from webhooks.enums import InboxAnswer
from webhooks.models import Inbox, InboxEntry

SHOWN: Final = 30
KIND_OF_ANSWER: Final = {InboxAnswer.OK: "ok", InboxAnswer.SLOW: "warn"}
OURS: Final = (
    "X-Webhook-",
    "X-Service-",
    "X-Feed-",
    "Webhook-",
    "Traceparent",
    "X-Request-Id",
    "Content-Type",
    "User-Agent",
)


@dataclass(frozen=True, slots=True)
class ShownEntry:
    id: UUID
    delivery_id: UUID
    event_type: str
    received_at: datetime
    kind: str
    answer: str
    body: str
    headers: Sequence[tuple[str, str]]
    signature: str


def newest_entries(inbox: Inbox, limit: int = SHOWN) -> list[ShownEntry]:
    return [_shown(entry) for entry in inbox.entries.order_by("-id")[:limit]]


def _shown(entry: InboxEntry) -> ShownEntry:
    answer = InboxAnswer(entry.answer)
    headers = [(name, value) for name, value in entry.headers.items() if name.startswith(OURS)]
    return ShownEntry(
        id=entry.pk,
        delivery_id=entry.delivery_id,
        event_type=entry.event_type,
        received_at=entry.received_at,
        kind=KIND_OF_ANSWER.get(answer, "bad"),
        answer=str(answer.label),
        body=indented(entry.body),
        headers=headers,
        signature=entry.headers.get("X-Webhook-Signature", ""),
    )
