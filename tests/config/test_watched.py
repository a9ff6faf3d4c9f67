"""Dashboards and alerts name metrics that there are, and each alert has its runbook."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from kombu import Connection

from accounts.models import Business
from config import gauges, scheduler_seen
from config.celery import app as celery_app
from extensions.enums import ExtensionType
from extensions.models import Breaker, Definition
from installations.models import Installation
from tests.config.test_metrics import operator, value  # noqa: F401
from tests.webhooks.helpers import claim, published, webhook
from webhooks.models import Attempt

ROOT = Path(__file__).resolve().parents[2]
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
METRIC = re.compile(r"extension_platform_[a-z0-9_]+")
SERIES_OF_A_HISTOGRAM = re.compile(r"_(bucket|count|sum)$")


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions(file: Path) -> Iterator[str]:
    for panel in json.loads(file.read_text())["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def served(client: Client) -> set[str]:
    """The names that Prometheus reads, with those of counters as it stores them."""
    names = set()
    for line in client.get("/metrics").content.decode().splitlines():
        if line.startswith("# TYPE extension_platform_"):
            _, _, name, _ = line.split()
            names.add(name)
    return {name for name in names if not name.endswith("_created")}


def used() -> set[str]:
    texts = [rule["expr"] for rule in rules()]
    for file in DASHBOARDS:
        texts += expressions(file)
    return {SERIES_OF_A_HISTOGRAM.sub("", name) for text in texts for name in METRIC.findall(text)}


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """The queue of the tests' Redis."""
    settings.CELERY_BROKER_URL = settings.REDIS_URL
    monkeypatch.setattr(celery_app, "connection_for_write", lambda *_, **__: Connection(settings.REDIS_URL))


@pytest.mark.django_db
@pytest.mark.postgres
@pytest.mark.redis
def test_every_metric_of_dashboards_and_alerts_is_served_and_every_served_one_is_shown(
    operator: Client,  # noqa: F811
    broker: None,
    sandbox: Business,
    installation: Installation,
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    attempt(published(sandbox), 200)
    scheduler_seen.sent()
    assert used() == served(operator)


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    sections = re.findall(r"^## (.+)$", (ROOT / "docs/runbooks.md").read_text(), re.MULTILINE)
    assert sections == [rule["alert"] for rule in rules()]
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbooks.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("page", "ticket")


def test_alerts_named_in_dashboards_exist() -> None:
    named = {
        name
        for file in DASHBOARDS
        for panel in json.loads(file.read_text())["panels"]
        for name in re.findall(r"Alert (\w+)", panel["description"])
    }
    assert named <= {rule["alert"] for rule in rules()}


def test_prometheus_accepts_the_rules() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    checked = subprocess.run(
        ["promtool", "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def attempt(
    delivery: Any, status: int | None, *, error: str = "", number: int = 1, after: float = 0.5
) -> None:
    Attempt.objects.create(
        delivery=delivery,
        number=number,
        attempted_at=delivery.created_at + timedelta(seconds=after),
        http_status=status,
        duration_ms=20,
        error_class=error,
    )


@pytest.mark.django_db
def test_recent_attempts_are_shown_by_outcome_with_their_lag(
    operator: Client,  # noqa: F811
    sandbox: Business,
    installation: Installation,
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    late = published(sandbox)
    attempt(published(sandbox), 200)
    attempt(late, 503, after=7)
    attempt(late, None, error="timeout", number=2, after=40)
    outcome = 'extension_platform_attempts_last_minute{outcome="%s"}'
    assert [value(operator, outcome % each) for each in ("2xx", "5xx", "timeout")] == [1, 1, 1]
    assert value(operator, "extension_platform_deliveries_lag_p99_seconds") == 7  # of first attempts


@pytest.mark.django_db
def test_deliveries_in_flight_are_counted(
    operator: Client,  # noqa: F811
    sandbox: Business,
    installation: Installation,
) -> None:
    webhook(installation, "http://127.0.0.1:9/", ["order.created"])
    published(sandbox)
    assert value(operator, "extension_platform_deliveries_in_flight") == 0
    assert claim(10, timezone.now())
    assert value(operator, "extension_platform_deliveries_in_flight") == 1


@pytest.mark.django_db
def test_breakers_are_counted_by_state(operator: Client, installation: Installation) -> None:  # noqa: F811
    now = timezone.now()
    for number, until in enumerate([None, now + timedelta(minutes=1), now - timedelta(seconds=1)]):
        hook = Definition.objects.create(
            app=installation.app, type=ExtensionType.HOOK, key=f"hook{number}", position=number, content={}
        )
        Breaker.objects.create(installation=installation, definition=hook, open_until=until, failures=5)
    states = 'extension_platform_hook_breakers{state="%s"}'
    assert [value(operator, states % each) for each in ("closed", "open", "half_open")] == [1, 1, 1]


@pytest.mark.django_db
def test_scheduler_has_a_heartbeat_once_it_sends_tasks(
    operator: Client,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduler_seen, "_written_at", 0.0)
    name = "extension_platform_scheduler_heartbeat_age_seconds"
    cache.clear()
    assert name not in operator.get("/metrics").content.decode()
    scheduler_seen.sent()
    assert 0 <= value(operator, name) < 5


@pytest.mark.django_db
def test_source_that_is_away_takes_no_other_with_it(
    operator: Client,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> None:
        raise ConnectionError("away")

    monkeypatch.setitem(gauges.SOURCES, "attempts", away)
    text = operator.get("/metrics").content.decode()
    assert "extension_platform_attempts_last_minute" not in text
    assert "extension_platform_dispatchers" in text


def test_runbooks_lead_somewhere() -> None:
    """Links to sections of the guides beside them."""
    text = (ROOT / "docs/runbooks.md").read_text()
    for file, anchor in re.findall(r"\]\(([a-z/.-]*)#([a-z-]+)\)", text):
        titles = re.findall(r"^#+ (.+)$", (ROOT / "docs" / (file or "runbooks.md")).read_text(), re.MULTILINE)
        anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert anchor in anchors, (file, anchor)
