"""What `check --deploy --database default` finds out from the servers themselves."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.checks import Tags, run_checks
from django.db import connection, connections
from django.utils import timezone

from tests.faults.servers import Redis
from tests.ports import free_port
from webhooks.engine import clocks

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def found(*databases: str) -> dict[str, str]:
    """The messages by id."""
    problems = run_checks(tags=[Tags.database], databases=databases, include_deployment_checks=True)
    return {
        str(problem.id): str(problem.msg) for problem in problems if str(problem.id).startswith("config.")
    }


@pytest.fixture(autouse=True)
def fitting(settings: Any) -> None:
    settings.WEB_PROCESSES, settings.WEB_THREADS, settings.WORKER_THREADS = 1, 2, 2
    settings.CELERY_BROKER_URL = "memory://localhost"


def test_fitting_servers_are_fine() -> None:
    assert found("default") == {}


def test_servers_are_asked_only_with_the_database(settings: Any) -> None:
    settings.WEB_PROCESSES = 5000
    assert found() == {}


def test_missing_extension_is_found() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
    assert "pg_trgm" in found("default")["config.W008"]


def test_too_few_sessions_are_found(settings: Any) -> None:
    settings.WEB_PROCESSES = 5000
    assert "one machine may need 15004: 15000 for 5000 web processes" in found("default")["config.W009"]
    settings.DATABASE_POOLER = "transaction"
    assert found("default") == {}


def test_wrong_clock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now
    monkeypatch.setattr(clocks.timezone, "now", lambda: now() + timedelta(seconds=90))
    assert "differ by 90.0 s" in found("default")["config.W010"]


@pytest.mark.slow  # a server of its own
def test_redis_that_may_forget_tasks_is_found(settings: Any) -> None:
    with Redis() as server:
        settings.CELERY_BROKER_URL = server.url
        for policy, is_found in (("allkeys-lru", True), ("volatile-lru", False), ("noeviction", False)):
            server.client.config_set("maxmemory-policy", policy)
            assert ("config.W011" in found("default")) == is_found


def test_servers_that_are_away_are_named(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{free_port()}/0"
    assert "The broker can't be asked" in found("default")["config.W012"]
    away = connection.copy()
    away.settings_dict |= {"PORT": free_port(), "HOST": "127.0.0.1"}
    settings.CELERY_BROKER_URL = "memory://localhost"
    here = connections["default"]
    connections["default"] = away
    try:
        assert "PostgreSQL can't be asked" in found("default")["config.W012"]
    finally:
        connections["default"] = here
