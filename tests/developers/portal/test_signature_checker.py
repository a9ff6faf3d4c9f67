"""The signature checker: expected values, and the mistake behind a wrong one.

The wrong values are computed as receivers compute them, following the text of the specification.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from developers.portal.signatures.checker import Report, examine, parse_headers
from webhooks.messages.message import signature_headers

NOW = datetime(2026, 11, 20, 15, 31, 8, tzinfo=UTC)
AT = int(NOW.timestamp()) - 20
ID = "0197c1f0-8c11-7c3e-9f30-3f2f1f0c1d2e"
KEY = bytes(range(32))
BARE = base64.b64encode(KEY).decode()
SECRET = f"whsec_test_{BARE}"
BODY = '{"event":"order.created","data":{"amount":12.0,"name":"Café"}}'


def headers(body: str = BODY, secret: str = SECRET, at: int = AT) -> dict[str, str]:
    made = signature_headers(secret, ID, at, body.encode())
    return parse_headers("\n".join(f"{name}: {value}" for name, value in made.items()))


def check(computed: str = "", **changes: object) -> Report:
    given = {"headers": headers(), "body": BODY, "secret": SECRET, "now": NOW} | changes
    return examine(computed=computed, **given)  # type: ignore[arg-type]


def mac(key: bytes | str, message: str) -> bytes:
    key = key.encode() if isinstance(key, str) else key
    return hmac.new(key, message.encode(), hashlib.sha256).digest()


def test_genuine_request_matches_in_both_schemes() -> None:
    report = check()
    assert report.is_genuine
    assert not report.is_stale
    assert [scheme.matches for scheme in report.schemes] == [True, True]
    assert report.schemes[0].signed == f"{AT}.{BODY}"
    assert report.schemes[1].signed == f"{ID}.{AT}.{BODY}"
    assert report.mistakes == ()


def test_expected_values_follow_the_specification() -> None:
    own, standard = check().schemes
    assert own.expected == "sha256=" + mac(SECRET, f"{AT}.{BODY}").hex()
    assert standard.expected == "v1," + base64.b64encode(mac(KEY, f"{ID}.{AT}.{BODY}")).decode()


REPRINTS: dict[str, Callable[[], str]] = {
    "python": lambda: json.dumps(json.loads(BODY)),
    "compact": lambda: json.dumps(json.loads(BODY), separators=(",", ":")),
    "javascript": lambda: BODY.replace("12.0", "12"),
    "javascript, indented": lambda: json.dumps(json.loads(BODY), indent=2, ensure_ascii=False),
    "sorted": lambda: json.dumps(json.loads(BODY), sort_keys=True),
}


@pytest.mark.parametrize("printer", REPRINTS)
def test_reserialised_body_is_found(printer: str) -> None:
    computed = mac(SECRET, f"{AT}.{REPRINTS[printer]()}").hex()
    mistakes = check(computed).mistakes
    assert mistakes
    assert "parsed and serialized again" in mistakes[0]
    assert len(mistakes) == 1


@pytest.mark.parametrize(
    ("computed", "message"),
    [
        (mac(SECRET, BODY).hex(), "timestamp is missing"),
        (mac(SECRET, f"{AT}000.{BODY}").hex(), "milliseconds"),
        (mac(SECRET, f"{AT}{BODY}").hex(), "full stop"),
        (mac(SECRET, f"{BODY}.{AT}").hex(), "wrong order"),
        (mac(SECRET, f"{ID}.{AT}.{BODY}").hex(), "event ID was signed too"),
        (mac(SECRET, f"{AT}.{BODY}\n").hex(), "line break was added"),
        (mac(BARE, f"{AT}.{BODY}").hex(), "without its prefix"),
        (mac(f"whsec_{BARE}", f"{AT}.{BODY}").hex(), "prefix whsec_,"),
        (mac(KEY, f"{AT}.{BODY}").hex(), "decoded from base64"),
        (mac(SECRET + "\n", f"{AT}.{BODY}").hex(), "line break at its end"),
        (base64.b64encode(mac(SECRET, f"{AT}.{BODY}")).decode(), "It is base64"),
        ("v1," + base64.b64encode(mac(KEY, f"{ID}.{AT}.{BODY}")).decode(), "Standard Webhooks signature"),
    ],
)
def test_common_mistake_is_found(computed: str, message: str) -> None:
    mistakes = check(computed).mistakes
    assert mistakes is not None
    assert len(mistakes) == 1
    assert message in mistakes[0]


def test_two_mistakes_at_once_are_both_named() -> None:
    computed = base64.b64encode(mac(BARE, json.dumps(json.loads(BODY)))).decode()
    mistakes = check(computed).mistakes
    assert mistakes is not None
    text = " ".join(mistakes)
    for part in ("serialized again", "timestamp is missing", "without its prefix", "base64"):
        assert part in text


@pytest.mark.parametrize("written", [str.upper, lambda value: f"sha256={value}", lambda value: f" {value} "])
def test_right_value_in_any_notation_has_no_mistake(written: Callable[[str], str]) -> None:
    assert check(written(mac(SECRET, f"{AT}.{BODY}").hex())).mistakes == ()


@pytest.mark.parametrize("computed", ["ab" * 32, "no signature", "é" * 64])
def test_value_of_an_unknown_mistake_is_not_explained(computed: str) -> None:
    assert check(computed).mistakes is None


def test_other_secret_does_not_match() -> None:
    report = check(secret="whsec_test_" + base64.b64encode(bytes(32)).decode())
    assert not report.is_genuine
    assert report.mistakes is None


def test_secret_pasted_with_the_wrong_prefix_is_explained_without_a_computed_value() -> None:
    report = check(secret=f"whsec_{BARE}")
    assert not report.is_genuine
    assert report.mistakes
    assert "whsec_test_" in report.mistakes[0]


def test_body_pasted_with_a_line_break_is_explained() -> None:
    report = check(body=BODY + "\n")
    assert report.mistakes
    assert "extra spaces or line breaks" in report.mistakes[0]


@pytest.mark.parametrize(("late", "stale"), [(300, False), (301, True), (-301, True)])
def test_stale_is_more_than_five_minutes_either_way(late: int, stale: bool) -> None:
    report = check(headers=headers(at=AT), now=datetime.fromtimestamp(AT, UTC) + timedelta(seconds=late))
    assert report.is_stale is stale
    assert report.is_genuine


@pytest.mark.parametrize("timestamp", ["", "soon", "１７", "1.5", "-3"])
def test_invalid_timestamp_is_reported(timestamp: str) -> None:
    report = check(headers={"x-webhook-signature": "sha256=00", "x-webhook-timestamp": timestamp})
    assert report.schemes == ()
    assert report.problems
    assert not report.is_genuine


def test_headers_without_an_id_leave_the_other_scheme() -> None:
    own = {name: value for name, value in headers().items() if name.startswith("x-webhook-")}
    report = check(headers=own)
    assert [scheme.name for scheme in report.schemes] == ["This service"]
    assert report.is_genuine
    assert "webhook-id is missing" in report.problems[0]


def test_one_of_several_standard_signatures_is_enough() -> None:
    several = headers()
    several["webhook-signature"] = "v1,AAAA " + several["webhook-signature"]
    assert check(headers=several).is_genuine


def test_headers_are_read_as_tools_print_them() -> None:
    pasted = f"POST /hook HTTP/1.1\r\nX-WEBHOOK-Timestamp:{AT}\r\n  x-webhook-signature :  sha256=ab\r\n\r\n"
    assert parse_headers(pasted) == {"x-webhook-timestamp": str(AT), "x-webhook-signature": "sha256=ab"}


@pytest.mark.parametrize("body", ["", "not JSON", "[" * 50_000, '"\\ud800"', "1e999", "NaN"])
def test_unusual_bodies_are_checked_too(body: str) -> None:
    report = check(headers=headers(body), body=body, computed="ab" * 32)
    assert report.is_genuine
    assert report.mistakes is None
