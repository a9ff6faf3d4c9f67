"""Checks the signatures of one request, and explains how a wrong one came about. Pure functions.

To find a mistake, this module makes the usual mistakes of receivers on purpose. If one of them produces the value that
the developer's code computed, that is the mistake.
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

from common.text.nesting import is_too_deep

TOLERANCE: Final = 300  # seconds that a timestamp may be off
PREFIXES: Final = ("whsec_test_", "whsec_")


@dataclass(frozen=True, slots=True)
class Scheme:
    """One of the two signature schemes, with the signed text and the expected and received signatures."""

    name: str
    header: str
    signed: str  # the exact text, if the request is UTF-8
    expected: str
    received: str  # "" if the header is missing

    @property
    def matches(self) -> bool:
        """Whether one of the received signatures is right. Standard Webhooks allows several in one header."""
        return any(
            hmac.compare_digest(each.encode(), self.expected.encode()) for each in self.received.split()
        )


@dataclass(frozen=True, slots=True)
class Report:
    schemes: tuple[Scheme, ...]
    problems: tuple[str, ...]  # reasons why a scheme could not be checked
    age: int | None  # seconds since the timestamp; negative if it is in the future
    mistakes: tuple[str, ...] | None  # that produce the computed value; () if it is right, None if not found

    @property
    def is_stale(self) -> bool:
        return self.age is not None and abs(self.age) > TOLERANCE

    @property
    def is_genuine(self) -> bool:
        present = [scheme for scheme in self.schemes if scheme.received]
        return bool(present) and all(scheme.matches for scheme in present)


def parse_headers(text: str) -> dict[str, str]:
    """Headers from `Name: value` lines, with names in lower case. Lines without a colon are ignored."""
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip().strip("'\"").lower(): value.strip() for name, colon, value in lines if colon}


def examine(
    *, headers: Mapping[str, str], body: str, secret: str, computed: str = "", now: datetime
) -> Report:
    """Checks both schemes, and explains `computed`, the value that the developer's code computed.

    `headers` have lower-case names. Without `computed`, the received signature is explained instead, because a body or
    secret that was copied inexactly fails like a wrong one.
    """
    schemes: list[Scheme] = []
    problems: list[str] = []
    timestamp = headers.get("x-webhook-timestamp") or headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdigit():
        problems.append(
            "X-Webhook-Timestamp is missing. The signature covers it."
            if not timestamp
            else f"The timestamp is “{timestamp[:40]}”, which isn't a whole number of seconds."
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
    """The smallest set of mistakes that produces `value`: () if it is right, None if no combination matches."""
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


_STANDARD: Final = "This is the Standard Webhooks signature, not X-Webhook-Signature."
_BASE64: Final = "It is base64. X-Webhook-Signature is hexadecimal, after “sha256=”."


def _attempts(
    timestamp: str, message_id: str, body: str, secret: str
) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Every combination of body, message and key, as pairs of its mistakes and its digest."""
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
        "The timestamp is missing from the signed text, which is the timestamp, a full stop and the body.",
        "{body}",
    )
    yield (
        "The timestamp is in milliseconds. Use seconds, as in the header.",
        f"{timestamp}000.{{body}}",
    )
    yield "The full stop between timestamp and body is missing.", f"{timestamp}{{body}}"
    yield "Body and timestamp are in the wrong order.", f"{{body}}.{timestamp}"
    if message_id:
        yield (
            "The event ID was signed too. Only Standard Webhooks does that, with the decoded secret.",
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
            "The secret was used without its prefix. The key is the whole secret, including its prefix.",
            bare.encode(),
        )
        for prefix in PREFIXES:
            if prefix + bare != secret:
                yield (
                    f"The secret was used with the prefix {prefix}, which isn't its own.",
                    (prefix + bare).encode(),
                )
    try:
        yield (
            "The secret was decoded from base64. The key of X-Webhook-Signature is the undecoded text.",
            _decoded(secret),
        )
    except ValueError:
        return


def _bodies(body: str) -> Iterator[tuple[str, str]]:
    yield "", body
    for ending in ("\n", "\r\n"):
        yield "A line break was added at the end of the body.", body + ending
    if body.rstrip() != body:
        yield "The body has extra spaces or line breaks at its end.", body.rstrip()
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return
    if is_too_deep(
        body.encode(errors="surrogatepass"), document
    ):  # no body of ours, and long when it is indented
        return
    for printed in dict.fromkeys(_printed(document)):
        if printed != body:
            yield "The body was parsed and serialized again. Sign the raw bytes as received.", printed


def _printed(document: Any) -> Iterator[str]:
    """JSON as common libraries print it: compact, with spaces, on several lines, sorted, with or without escapes."""
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
    """Numbers as JavaScript prints them: 12.0 as 12."""
    if isinstance(value, dict):
        return {key: _floats_as_integers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_floats_as_integers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest_of(value: str) -> tuple[bytes, str] | None:
    """The 32 bytes of a signature and their encoding, "hex" or "base64". None for any other text."""
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
    """The key of Standard Webhooks. Raises ValueError if the secret doesn't contain one."""
    try:
        return base64.b64decode(_bare(secret.strip()), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError(
            "This isn't one of our secrets: the part after the prefix must be 32 bytes in base64."
        ) from None


def _mac(key: bytes, message: str) -> bytes:
    # JSON can contain half of a surrogate pair, which UTF-8 can't encode.
    return hmac.digest(key, message.encode(errors="replace"), hashlib.sha256)
