import ssl
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme

from config.observability import gauges
from tests.ports import free_port
from tests.receivers import Receiver


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauges, "_ends", {})
    monkeypatch.setattr(gauges, "_looked_at", {})


def test_certificate_of_an_authority_of_ones_own_is_read(settings: Any) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ends = datetime.now(UTC) + timedelta(days=10)
    trustme.CA().issue_cert("127.0.0.1", not_after=ends).configure_cert(context)
    with Receiver(tls=context) as receiver:
        settings.BASE_URL, settings.STORES_URL = receiver.url.rstrip("/"), "http://{slug}.stores.example"
        found = gauges.certificate_seconds_left()
    assert found["127.0.0.1"] == pytest.approx(864_000, abs=10)
    assert gauges.certificate_seconds_left()["127.0.0.1"] <= found["127.0.0.1"], "Remembered for ten minutes."


def test_host_that_is_away_has_no_figure(settings: Any) -> None:
    settings.BASE_URL, settings.STORES_URL = f"https://127.0.0.1:{free_port()}", "http://stores.example"
    assert gauges.certificate_seconds_left() == {}
