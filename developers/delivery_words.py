"""Saying in words how a delivery stands: headline, mark, plan of attempts, and the request it went out as."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Final
from urllib.parse import urlsplit

from webhooks import retry
from webhooks.catalogue import DATA_ERASURE
from webhooks.diagnosis import Diagnosis, diagnose
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.message import EXCERPT_BYTES, Message, compose
from webhooks.models import Attempt, Delivery
from webhooks.queries import destination, may_learn_of

# Kind and icon of the pill that `developers/delivery_status.html` makes.
MARKS: Final = {
    DeliveryStatus.PENDING: ("warn", "clock"),
    DeliveryStatus.RETRYING: ("warn", "rotate-cw"),
    DeliveryStatus.SUCCEEDED: ("ok", "check"),
    DeliveryStatus.EXHAUSTED: ("bad", "x"),
    DeliveryStatus.HELD: ("neutral", "pause"),
    DeliveryStatus.CANCELLED: ("neutral", "ban"),
}


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    wait: str  # after the one before: "30 s"
    state: str  # "ok", "bad", "next" or "later"


def headline(delivery: Delivery, last: Attempt | None) -> str:
    """What somebody wants to know first: "Failing: your endpoint answered 401"."""
    diagnosis = last and diagnose(last.http_status, last.error_class)
    seen = f": {diagnosis.seen}" if diagnosis else ""
    match delivery.status:
        case DeliveryStatus.SUCCEEDED:
            return f"Delivered: your endpoint answered {last.http_status}" if last else "Delivered"
        case DeliveryStatus.RETRYING:
            return f"Failing{seen}"
        case DeliveryStatus.EXHAUSTED:
            return f"Failed{seen}"
        case DeliveryStatus.HELD:
            return "Held: the webhook is switched off"
        case DeliveryStatus.CANCELLED:
            return f"Not sent: {_why_not_sent(delivery)}"
    return "Waiting to be sent again" if last else "Waiting to be sent"


def _why_not_sent(delivery: Delivery) -> str:
    webhook = delivery.webhook
    if delivery.event.type == DATA_ERASURE:
        return "the app was installed again before it was due"
    if not webhook.installation.is_active:
        return "the app was uninstalled while this waited"
    if webhook.deleted_at is not None:
        return "the webhook was deleted while this waited"
    return "the webhook was switched off while this waited"


@dataclass(frozen=True, slots=True)
class Told:
    """An attempt as the timeline tells it."""

    attempt: Attempt
    title: str
    diagnosis: Diagnosis | None
    until_next: str  # how long after it the next one was made; "" after the last


def timeline(attempts: Sequence[Attempt]) -> list[Told]:
    """`attempts` are the oldest first."""
    following = [each.attempted_at for each in attempts[1:]]
    return [
        Told(
            attempt=each,
            title=f"{each.number}. {_outcome(each)}",
            diagnosis=diagnose(each.http_status, each.error_class),
            until_next=duration(then - each.attempted_at) if then else "",
        )
        for each, then in zip_longest(attempts, following)
    ]


def _outcome(attempt: Attempt) -> str:
    diagnosis = diagnose(attempt.http_status, attempt.error_class)
    if diagnosis is None or attempt.http_status is not None:
        return f"Answered {attempt.http_status}"
    return diagnosis.seen[:1].upper() + diagnosis.seen[1:]


def plan(delivery: Delivery) -> list[PlannedAttempt]:
    """The whole schedule of this round. A delivery that is sent again begins a new one."""
    made = delivery.attempts_made
    return [
        PlannedAttempt(wait=duration(wait), state=_state(delivery, number, made))
        for number, wait in enumerate((timedelta(0), *retry.delays()), start=1)
    ]


def _state(delivery: Delivery, number: int, made: int) -> str:
    if number < made:
        return "bad"
    if number == made:
        return "ok" if delivery.status == DeliveryStatus.SUCCEEDED else "bad"
    return "next" if number == made + 1 and delivery.status in WAITING else "later"


def whole_plan() -> str:
    """`0 s, 30 s, 2 min, 8 min, 32 min, 2 h`."""
    return ", ".join(duration(wait) for wait in (timedelta(0), *retry.delays()))


def duration(wait: timedelta) -> str:
    """`30 s`, `8 min`, `2 h 42 min`: at most two units."""
    rest = round(wait.total_seconds())
    parts = []
    for unit, seconds in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, seconds)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def next_in(delivery: Delivery, now: datetime) -> str:
    """How long until the next attempt, or that it is being made."""
    if delivery.lease_until and delivery.lease_until > now:
        return "being sent now"
    if delivery.due_at is None or delivery.due_at <= now:
        return "due now"
    return f"in {duration(delivery.due_at - now)}"


def may_be_shown(delivery: Delivery) -> bool:
    """Whether the developer may read the event's data here.

    What was sent once is theirs already. What never was, is theirs only while the app may still be told: not after
    an uninstall, and not without the scope. An erasure tells nothing of the shop but its id.
    """
    if delivery.attempt_count > 0 or delivery.event.type == DATA_ERASURE:
        return True
    return may_learn_of(delivery.webhook.installation, delivery.event.type)


def request_of(delivery: Delivery, at: datetime) -> Message:
    """The request as an attempt made at that moment sent it: same bytes, same signatures. To today's URL."""
    webhook = delivery.webhook
    return compose(
        event=delivery.event,
        delivery_id=delivery.pk,
        webhook_id=webhook.pk,
        url=destination(webhook) or webhook.url,
        secret=webhook.secret,
        now=at,
    )


def header_lines(request: Message) -> str:
    lines = [f"Host: {urlsplit(request.url).netloc.rpartition('@')[2]}", *_lines(request)]
    return "\n".join([*lines, f"Content-Length: {len(request.body)}"])


def _lines(request: Message) -> Iterator[str]:
    return (f"{name}: {value}" for name, value in request.headers.items())


def as_curl(request: Message) -> str:
    """For a POSIX shell."""
    parts = [f"curl {shlex.quote(request.url)}"]
    parts += [f"-H {shlex.quote(line)}" for line in _lines(request)]
    parts.append(f"--data-binary {shlex.quote(request.body.decode())}")
    return " \\\n  ".join(parts)


def tls_command(url: str) -> str:
    """Shows the certificate that the endpoint presents."""
    parts = urlsplit(url)
    place = shlex.quote(f"{parts.hostname}:{parts.port or 443}")
    name = shlex.quote(parts.hostname or "")
    return f"openssl s_client -connect {place} -servername {name} </dev/null | openssl x509 -noout -dates -subject"


def is_cut(attempt: Attempt) -> bool:
    """Whether the kept answer may be the first part of a longer one."""
    return len(attempt.response_excerpt.encode()) >= EXCERPT_BYTES
