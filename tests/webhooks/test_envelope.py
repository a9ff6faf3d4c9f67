"""The body of a webhook request: the same bytes each time."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from webhooks.messages.message import render_body

AT = datetime(2026, 11, 20, 15, 4, 5, 123456, tzinfo=UTC)


@pytest.mark.spec("Events/Delivery format", "event, timestamp, webhookId, businessId, data")
def test_the_envelope() -> None:
    assert render_body("order.created", AT, "w1", "b1", '{"total":12.50}') == (
        b'{"event":"order.created","timestamp":"2026-11-20T15:04:05.123Z","webhookId":"w1","businessId":"b1",'
        b'"data":{"total":12.50}}'
    )


def test_data_is_taken_over_as_it_is() -> None:
    data = '{ "b" : 1.0, "a": "Zoë \\u00eb \\n" }'
    body = render_body("order.created", AT, "w1", "b1", data)
    assert body.endswith(b'"data":' + data.encode() + b"}")
    assert json.loads(body)["data"] == json.loads(data)


def test_the_time_zone_of_the_moment_does_not_matter() -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert render_body("a.b", AT, "w", "b", "{}") == render_body("a.b", elsewhere, "w", "b", "{}")


def test_quotes_in_a_part_cannot_break_out() -> None:
    assert json.loads(render_body('a","x":"', AT, "w", "b", "{}"))["event"] == 'a","x":"'
