"""Checking one request's signatures by hand, and finding out how a wrong value came about. Pure functions.

The likeliest mistakes of receivers are made here on purpose: where one of them gives the very value that the
developer's code computed, that is the mistake.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any, Final

TOLERANCE: Final = 300  # seconds that a receiver should let a request be old
PREFIXES: Final = ("whsec_test_", "whsec_")


@dataclass(frozen=True, slots=True)
class Scheme:
    """One of the two signatures: what is signed, with which value it should come, and with which it came."""

    name: str
    header: str
    signed: str  # the exact text, as far as the request is UTF-8
    expected: str
    received: str  # "" where the header is missing

    @property
    def matches(self) -> bool:
        """Standard Webhooks lets the header list several signatures."""
        return any(
            hmac.compare_digest(each.encode(), self.expected.encode()) for each in self.received.split()
        )


@dataclass(frozen=True, slots=True)
class Report:
    schemes: tuple[Scheme, ...]
    problems: tuple[str, ...]  # what keeps a scheme from being checked
    age: int | None  # seconds since the timestamp; below zero it lies in the future
    mistakes: tuple[str, ...] | None  # that give the computed value: () is none at all, None is not found

    @property
    def is_stale(self) -> bool:
        return self.age is not None and abs(self.age) > TOLERANCE

    @property
    def is_genuine(self) -> bool:
        present = [scheme for scheme in self.schemes if scheme.received]
        return bool(present) and all(scheme.matches for scheme in present)


def parse_headers(text: str) -> dict[str, str]:
    """`Name: value` lines, names in lower case; a request line and whatever else has no colon are passed over."""
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip().strip("'\"").lower(): value.strip() for name, colon, value in lines if colon}


def examine(
    *, headers: Mapping[str, str], body: str, secret: str, computed: str = "", now: datetime
) -> Report:
    """Check both schemes, and explain `computed`, the value that the developer's own code came to.

    `headers` have lower-case names. Without `computed` the signature that came is explained instead, since a
    body or secret that was not copied exactly fails just like a wrong one.
    """
    schemes: list[Scheme] = []
    problems: list[str] = []
    timestamp = headers.get("x-webhook-timestamp") or headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit():
        problems.append(
            "X-Webhook-Timestamp is missing. It is part of what is signed."
            if not timestamp
            else f"The timestamp is “{timestamp[:40]}”, not a whole number of seconds."
        )
        return Report((), tuple(problems), None, None)
    schemes.append(_own_scheme(headers, timestamp, body, secret))
    try:
        schemes.append(_standard_scheme(headers, timestamp, body, secret))
    except ValueError as error:
        problems.append(str(error))
    message_id = headers.get("webhook-id") or headers.get("x-service-event-id", "")
    sought = computed.strip() or schemes[0].received
    return Report(
        schemes=tuple(schemes),
        problems=tuple(problems),
        age=int(now.timestamp()) - int(timestamp[:12]),
        mistakes=explain(sought, timestamp=timestamp, message_id=message_id, body=body, secret=secret),
    )


def _own_scheme(headers: Mapping[str, str], timestamp: str, body: str, secret: str) -> Scheme:
    signed = f"{timestamp}.{body}"
    return Scheme(
        name="This service",
        header="X-Webhook-Signature",
        signed=signed,
        expected="sha256=" + _mac(secret.encode(), signed).hex(),
        received=headers.get("x-webhook-signature", ""),
    )


def _standard_scheme(headers: Mapping[str, str], timestamp: str, body: str, secret: str) -> Scheme:
    message_id = headers.get("webhook-id") or headers.get("x-service-event-id")
    if not message_id:
        raise ValueError("webhook-id is missing. The Standard Webhooks signature covers it.")
    signed = f"{message_id}.{headers.get('webhook-timestamp', timestamp)}.{body}"
    return Scheme(
        name="Standard Webhooks",
        header="webhook-signature",
        signed=signed,
        expected="v1," + base64.b64encode(_mac(_decoded(secret), signed)).decode(),
        received=headers.get("webhook-signature", ""),
    )


def explain(value: str, *, timestamp: str, message_id: str, body: str, secret: str) -> tuple[str, ...] | None:
    """The fewest mistakes that give `value`; () where it is right, None where no combination gives it."""
    sought = _digest_of(value)
    if not sought:
        return None
    found = [
        tuple(mistake for mistake in mistakes if mistake)
        for mistakes, digest in _attempts(timestamp, message_id, body, secret)
        if hmac.compare_digest(digest, sought[0])
    ]
    if not found:
        return None
    fewest = min(found, key=len)
    is_base64 = sought[1] == "base64" and "v1," not in value
    return (*fewest, _BASE64) if is_base64 and _STANDARD not in fewest else fewest


_STANDARD: Final = "That is the value of the Standard Webhooks signature, not of X-Webhook-Signature."
_BASE64: Final = "It is written in base64. X-Webhook-Signature is in hexadecimal, after “sha256=”."


def _attempts(
    timestamp: str, message_id: str, body: str, secret: str
) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Every combination of one body, one message and one key, with the mistakes it stands for."""
    keys = list(_keys(secret))
    for (of_body, text), (of_message, template) in product(_bodies(body), _messages(timestamp, message_id)):
        message = template.replace("{body}", text)
        for of_key, key in keys:
            yield (of_body, of_message, of_key), _mac(key, message)
    if message_id:
        signed = f"{message_id}.{timestamp}.{body}"
        try:
            yield (_STANDARD,), _mac(_decoded(secret), signed)
        except ValueError:
            return


def _messages(timestamp: str, message_id: str) -> Iterator[tuple[str, str]]:
    yield "", f"{timestamp}.{{body}}"
    yield (
        "The timestamp is missing from what was signed: it is timestamp, a full stop, then the body.",
        "{body}",
    )
    yield (
        "The timestamp was taken in milliseconds. It is in seconds, as the header has it.",
        f"{timestamp}000.{{body}}",
    )
    yield "The full stop between timestamp and body is missing.", f"{timestamp}{{body}}"
    yield "Body and timestamp stand in the wrong order.", f"{{body}}.{timestamp}"
    if message_id:
        yield (
            "The event's id was signed too. Only Standard Webhooks does that, with the decoded secret.",
            f"{message_id}.{timestamp}.{{body}}",
        )


def _keys(secret: str) -> Iterator[tuple[str, bytes]]:
    yield "", secret.encode()
    if secret.strip() != secret:
        yield "The secret was pasted with spaces or a line break around it.", secret.strip().encode()
        secret = secret.strip()
    yield "The secret was read with a line break at its end.", f"{secret}\n".encode()
    bare = _bare(secret)
    if bare != secret:
        yield (
            "The secret was used without its prefix. The key is the whole text, prefix included.",
            bare.encode(),
        )
        for prefix in PREFIXES:
            if prefix + bare != secret:
                yield (
                    f"The secret was used with the prefix {prefix}, which is not the one it has.",
                    (prefix + bare).encode(),
                )
    try:
        yield (
            "The secret was decoded from base64. The key of X-Webhook-Signature is its text.",
            _decoded(secret),
        )
    except ValueError:
        return


def _bodies(body: str) -> Iterator[tuple[str, str]]:
    yield "", body
    for ending in ("\n", "\r\n"):
        yield "The body was signed with a line break added at its end.", body + ending
    if body.rstrip() != body:
        yield "The body has spaces or line breaks at its end that do not belong to it.", body.rstrip()
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return
    for printed in dict.fromkeys(_printed(document)):
        if printed != body:
            yield "The body was parsed and printed anew. Sign the raw bytes as they came.", printed


def _printed(document: Any) -> Iterator[str]:
    """How usual libraries print JSON: compact, with spaces, on several lines, sorted, with or without escapes."""
    for ascii_only, sort in product((False, True), repeat=2):
        options: dict[str, Any] = {"ensure_ascii": ascii_only, "sort_keys": sort}
        yield json.dumps(document, separators=(",", ":"), **options)
        yield json.dumps(document, **options)
        for indent in (2, 4):
            yield json.dumps(document, indent=indent, **options)
    whole = _floats_as_integers(document)
    if whole != document or json.dumps(whole) != json.dumps(document):
        yield json.dumps(whole, separators=(",", ":"), ensure_ascii=False)


def _floats_as_integers(value: Any) -> Any:
    """As JavaScript prints numbers: 12.0 is 12."""
    if isinstance(value, dict):
        return {key: _floats_as_integers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_floats_as_integers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest_of(value: str) -> tuple[bytes, str] | None:
    """The 32 bytes that a signature writes, and in which way; None where it is no SHA-256 in hex or base64."""
    text = value.strip().rpartition("sha256=")[2].rpartition("v1,")[2].strip()
    try:
        if len(text) == 64:
            return bytes.fromhex(text), "hex"
        padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
        decoded = base64.b64decode(padded, validate=True)
    except ValueError:
        return None
    return (decoded, "base64") if len(decoded) == 32 else None


def _bare(secret: str) -> str:
    return next((secret[len(prefix) :] for prefix in PREFIXES if secret.startswith(prefix)), secret)


def _decoded(secret: str) -> bytes:
    """The key of Standard Webhooks. Raises ValueError for a secret that holds none."""
    try:
        return base64.b64decode(_bare(secret.strip()), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(
            "The secret is not one of ours: after its prefix, base64 of 32 bytes must follow."
        ) from None


def _mac(key: bytes, message: str) -> bytes:
    # JSON can name half a character, which no UTF-8 can hold.
    return hmac.digest(key, message.encode(errors="replace"), hashlib.sha256)
