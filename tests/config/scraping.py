"""Metrics as an operator reads them."""

from typing import Any

import pytest
from django.test import Client
from prometheus_client import CollectorRegistry

from common.observability import exposition
from config.observability import gauges

TOKEN = "a token for the metrics"


@pytest.fixture
def operator(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The reader of the figures of this process and the shared ones, as in the demo, which has all in one process."""
    settings.METRICS_TOKEN = TOKEN
    show_everything(monkeypatch)
    return Client(headers={"Authorization": f"Bearer {TOKEN}"})


def show_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exposition, "_READ", CollectorRegistry())
    monkeypatch.setattr(exposition, "_shown", {})
    exposition.show(exposition.OF_PROCESSES | gauges.SHARED)


def value(client: Client, sample: str) -> float:
    lines = client.get("/metrics").content.decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(sample + " ")), 0.0)
