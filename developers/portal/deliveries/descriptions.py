"""Descriptions of a delivery for its page: timeline, retry schedule, the request as it was sent, and how two of them differ."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any, Final
from urllib.parse import urlsplit

import orjson

from common.times import short_duration
from webhooks.engine import retry
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.insight.diagnosis import Diagnosis, diagnose
from webhooks.messages.message import EXCERPT_BYTES, Message, compose, event_of
from webhooks.models import Attempt, Delivery
from webhooks.queries import destination

# These differ in every request, and explain nothing.
ALWAYS_DIFFERENT: Final = frozenset(
    name.lower()
    for name in (
        "X-Webhook-Timestamp", "X-Webhook-Signature", "X-Webhook-Event-Uid", "X-Service-Event-Id", "X-Feed-Cursor",
        "X-Request-Id", "traceparent", "webhook-id", "webhook-timestamp", "webhook-signature",
    )
)  # fmt: skip
MISSING: Final = "—"


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    wait: str  # after the previous attempt: "30 s"
    state: str  # "ok", "bad", "next" or "later"


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An attempt in the timeline."""

    attempt: Attempt
    title: str
    diagnosis: Diagnosis | None
    until_next: str  # time until the next attempt; "" for the last one


def timeline(attempts: Sequence[Attempt]) -> list[TimelineEntry]:
    """`attempts` are ordered oldest first."""
    following = [each.attempted_at for each in attempts[1:]]
    return [
        TimelineEntry(
            attempt=each,
            title=f"{each.number}. {_outcome(each)}",
            diagnosis=diagnose(each.http_status, each.error_class),
            until_next=short_duration(then - each.attempted_at) if then else "",
        )
        for each, then in zip_longest(attempts, following)
    ]


def _outcome(attempt: Attempt) -> str:
    diagnosis = diagnose(attempt.http_status, attempt.error_class)
    if diagnosis is None or attempt.http_status is not None:
        return f"Answered {attempt.http_status}"
    return diagnosis.seen[:1].upper() + diagnosis.seen[1:]


def plan(delivery: Delivery) -> list[PlannedAttempt]:
    """The retry schedule with the outcome of each attempt. A resend starts a new schedule."""
    made = delivery.attempts_made
    return [
        PlannedAttempt(wait=short_duration(wait), state=_state(delivery, number, made))
        for number, wait in enumerate((timedelta(0), *retry.delays()), start=1)
    ]


def _state(delivery: Delivery, number: int, made: int) -> str:
    if number < made:
        return "bad"
    if number == made:
        return "ok" if delivery.status == DeliveryStatus.SUCCEEDED else "bad"
    return "next" if number == made + 1 and delivery.status in WAITING else "later"


def retry_schedule() -> str:
    """`0 s, 30 s, 2 min, 8 min, 32 min, 2 h`."""
    return ", ".join(short_duration(wait) for wait in (timedelta(0), *retry.delays()))


def next_in(delivery: Delivery, now: datetime) -> str:
    """When the next attempt is made: "in 30 s", "due now" or "being sent now"."""
    if delivery.lease_until and delivery.lease_until > now:
        return "being sent now"
    if delivery.due_at is None or delivery.due_at <= now:
        return "due now"
    return f"in {short_duration(delivery.due_at - now)}"


def request_of(delivery: Delivery, at: datetime) -> Message:
    """The request that an attempt at that time sent: the same bytes and signatures, but the current URL."""
    webhook = delivery.webhook
    return compose(
        event=event_of(delivery),
        delivery_id=delivery.pk,
        webhook_id=webhook.pk,
        url=destination(webhook) or webhook.url,
        secret=webhook.secret,
        now=at,
    )


def formatted(body: bytes) -> str:
    """The JSON of a body, indented for reading."""
    return orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2).decode()


def header_lines(request: Message) -> str:
    lines = [f"Host: {urlsplit(request.url).netloc.rpartition('@')[2]}", *_lines(request)]
    return "\n".join([*lines, f"Content-Length: {len(request.body)}"])


def _lines(request: Message) -> Iterator[str]:
    return (f"{name}: {value}" for name, value in request.headers.items())


def as_curl(request: Message) -> str:
    """A curl command for a POSIX shell."""
    parts = [f"curl {shlex.quote(request.url)}"]
    parts += [f"-H {shlex.quote(line)}" for line in _lines(request)]
    parts.append(f"--data-binary {shlex.quote(request.body.decode())}")
    return " \\\n  ".join(parts)


def tls_command(url: str) -> str:
    """A command that shows the certificate the endpoint presents."""
    parts = urlsplit(url)
    host = shlex.quote(f"{parts.hostname}:{parts.port or 443}")
    name = shlex.quote(parts.hostname or "")
    return f"openssl s_client -connect {host} -servername {name} </dev/null | openssl x509 -noout -dates -subject"


def is_cut(attempt: Attempt) -> bool:
    """Whether the stored response may be the beginning of a longer one."""
    return len(attempt.response_excerpt.encode()) >= EXCERPT_BYTES


# Compares the requests of two deliveries: what differs in their headers and bodies.


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """One header or field of the body. `kind` is "changed", "added" or "removed"."""

    name: str
    worked: str
    failed: str
    kind: str


def differing_headers(worked: Message, failed: Message) -> list[ComparedLine]:
    return _lines_of(_explaining(worked.headers), _explaining(failed.headers))


def differing_fields(worked: Message, failed: Message) -> list[ComparedLine]:
    """The fields of the JSON bodies by path, such as `data.items[0].price`."""
    return _lines_of(
        dict(_flat("", orjson.loads(worked.body))),
        dict(_flat("", orjson.loads(failed.body))),
    )


def _explaining(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in ALWAYS_DIFFERENT}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _flat(f"{path}.{name}" if path else name, each)
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from _flat(f"{path}[{index}]", each)
    else:
        yield path, orjson.dumps(value).decode()


def _lines_of(worked: Mapping[str, str], failed: Mapping[str, str]) -> list[ComparedLine]:
    names = [*failed, *(name for name in worked if name not in failed)]
    return [
        ComparedLine(name, worked.get(name, MISSING), failed.get(name, MISSING), _kind(name, worked, failed))
        for name in names
        if worked.get(name) != failed.get(name)
    ]


def _kind(name: str, worked: Mapping[str, str], failed: Mapping[str, str]) -> str:
    if name not in worked:
        return "added"
    return "changed" if name in failed else "removed"
