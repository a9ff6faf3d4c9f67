"""The signature check, against signatures that the SDK did not make."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from extension_platform_sdk import InvalidSignature, sign, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = '{"event":"order.created","data":{"amount":12.5,"note":"Grüße"}}'.encode()
NOW = 1_763_650_000
TIMESTAMP = str(NOW)
# printf '%s.%s' "$TIMESTAMP" "$BODY" | openssl dgst -sha256 -hmac "$SECRET"
VECTOR = "sha256=bc664822fe0c80ce1261d1ceaab8c7591b042bb3bb46179f4066fef22a1b29c5"


def by_hand(body: bytes = BODY, timestamp: str = TIMESTAMP, secret: str = SECRET) -> str:
    digest = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return "sha256=" + digest.hexdigest()


def refusal(**changes: object) -> str:
    """The reason why a good call, bent in one place, is refused."""
    call = {"secret": SECRET, "timestamp": TIMESTAMP, "signature": VECTOR, "body": BODY, "now": NOW}
    with pytest.raises(InvalidSignature) as refused:
        verify(**(call | changes))  # type: ignore[arg-type]
    return str(refused.value)


@pytest.mark.spec(
    "Events/Signature", "Hex HMAC-SHA256 keyed with the webhook secret over <timestamp>.<rawBody>"
)
def test_published_vector() -> None:
    assert by_hand() == VECTOR
    assert sign(secret=SECRET, timestamp=NOW, body=BODY) == VECTOR
    verify(secret=SECRET, timestamp=TIMESTAMP, signature=VECTOR, body=BODY, now=NOW)


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
def test_openssl_agrees() -> None:
    command = ["openssl", "dgst", "-sha256", "-hmac", SECRET]
    said = subprocess.run(command, input=f"{TIMESTAMP}.".encode() + BODY, capture_output=True, check=True)
    assert "sha256=" + said.stdout.decode().split()[-1] == VECTOR


def test_upper_case_hex_is_the_same_signature() -> None:
    upper = "sha256=" + VECTOR.removeprefix("sha256=").upper()
    verify(secret=SECRET, timestamp=TIMESTAMP, signature=upper, body=BODY, now=NOW)


@pytest.mark.spec("Events/Signature", "Receivers should reject timestamps older than 5 minutes")
@pytest.mark.parametrize("age", [300, 0, -300])
def test_timestamp_within_five_minutes_is_accepted(age: int) -> None:
    verify(secret=SECRET, timestamp=TIMESTAMP, signature=VECTOR, body=BODY, now=NOW + age)


@pytest.mark.spec("Events/Signature", "Receivers should reject timestamps older than 5 minutes")
def test_timestamp_beyond_five_minutes_is_refused() -> None:
    assert refusal(now=NOW + 301) == "the timestamp is 301 seconds old, 300 are allowed"
    assert refusal(now=NOW - 301) == "the timestamp is 301 seconds ahead, 300 are allowed"
    assert refusal(now=NOW + 300.5).startswith("the timestamp is")
    assert refusal(now=NOW + 11, tolerance=10) == "the timestamp is 11 seconds old, 10 are allowed"


def test_clock_is_used_when_no_time_is_given() -> None:
    with pytest.raises(InvalidSignature, match="seconds old"):
        verify(secret=SECRET, timestamp=TIMESTAMP, signature=VECTOR, body=BODY)


@pytest.mark.parametrize(
    "changes",
    [
        {"body": BODY + b" "},
        {"body": b""},
        {"secret": SECRET.removeprefix("whsec_")},
        {"timestamp": str(NOW + 1)},
        {"timestamp": "0" + TIMESTAMP},
        {"signature": by_hand(secret="another")},
        {"signature": "sha256=" + "0" * 64},
    ],
)
def test_signature_of_something_else_is_refused(changes: dict[str, object]) -> None:
    assert refusal(**changes) == "the signature does not match the body"


@pytest.mark.parametrize("missing", [None, ""])
def test_missing_header_is_named(missing: str | None) -> None:
    assert refusal(timestamp=missing) == "X-Webhook-Timestamp is missing"
    assert refusal(signature=missing) == "X-Webhook-Signature is missing"


@pytest.mark.parametrize(
    "timestamp", ["now", "-1", "1e9", " 1763650000", "1763650000\n", "1.5", "9" * 400, "\uff11\uff17"]
)
def test_malformed_timestamp_is_refused(timestamp: str) -> None:
    assert "not a Unix time" in refusal(timestamp=timestamp, signature=by_hand(timestamp=timestamp))


@pytest.mark.parametrize(
    "signature", ["sha256=", VECTOR[7:], "sha1=" + "0" * 40, VECTOR + "0", VECTOR + "\n", "é"]
)
def test_malformed_signature_is_refused(signature: str) -> None:
    assert "not sha256=" in refusal(signature=signature)


def test_empty_secret_is_a_mistake_of_the_app() -> None:
    with pytest.raises(ValueError, match="empty"):
        verify(secret="", timestamp=TIMESTAMP, signature=by_hand(secret=""), body=BODY, now=NOW)


VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())


@pytest.mark.long
@pytest.mark.parametrize("call", VECTORS["calls"], ids=[call["name"] for call in VECTORS["calls"]])
def test_call_that_both_sdks_judge_alike(call: dict[str, Any]) -> None:
    names = ("secret", "timestamp", "signature", "body")
    arguments = {name: VECTORS[name] for name in names} | {"now": NOW} | call["change"]
    arguments["body"] = arguments["body"].encode()
    if call["refused"] is None:
        verify(**arguments)
    else:
        with pytest.raises(InvalidSignature) as refused:
            verify(**arguments)
        assert str(refused.value) == call["refused"]
