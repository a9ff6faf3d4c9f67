"""What `check --deploy --database default` finds out from the servers themselves."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.core.checks import Tags, run_checks
from django.db import connection, connections
from django.utils import timezone

from tests.faults.servers import Redis
from tests.ports import free_port
from tests.sessions import another_session
from webhooks.engine import clocks

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def found(*databases: str, at_start: bool = False) -> dict[str, str]:
    """The messages by id, of `check --deploy` or of a start."""
    problems = run_checks(tags=[Tags.database], databases=databases, include_deployment_checks=not at_start)
    return {
        str(problem.id): str(problem.msg) for problem in problems if str(problem.id).startswith("config.")
    }


@pytest.fixture(autouse=True)
def fitting(settings: Any) -> None:
    settings.WEB_PROCESSES, settings.WEB_THREADS, settings.WORKER_THREADS = 1, 2, 2
    settings.CELERY_BROKER_URL = "memory://localhost"


@pytest.fixture(autouse=True)
def session(db: None) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's, on a database that ends idle transactions."""
    with another_session() as session:
        session.autocommit = True
        name = connection.settings_dict["NAME"]
        session.execute(f"ALTER DATABASE {name} SET idle_in_transaction_session_timeout = '60s'")
        yield session
        session.execute(f"ALTER DATABASE {name} RESET idle_in_transaction_session_timeout")


def test_setting_that_is_gone_is_named_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "config.W016" not in found("default", at_start=True)
    monkeypatch.setenv("DATABASE_REPLICA_URL", "postgres://user:secret@host/name")
    message = found("default", at_start=True)["config.W016"]
    assert message.startswith("DATABASE_REPLICA_URL is gone")
    assert "secret" not in message


@pytest.mark.parametrize("change", ["SET idle_in_transaction_session_timeout = 0", "RESET ALL"])
def test_database_that_ends_no_idle_transactions_is_found(
    change: str, session: psycopg.Connection[Any]
) -> None:
    """However short those of our own sessions are."""
    session.execute(f"ALTER DATABASE {connection.settings_dict['NAME']} {change}")
    assert "transactions that somebody leaves open" in found("default", at_start=True)["config.W014"]


def test_roles_whose_long_statements_nothing_ends_are_found(session: psycopg.Connection[Any]) -> None:
    for name in ("reports", "console", "stranger"):
        session.execute(f"CREATE ROLE test_{name} LOGIN")
    try:
        session.execute("GRANT SELECT ON webhooks_delivery TO test_reports, test_console")
        session.execute("ALTER ROLE test_console SET statement_timeout = '1min'")
        message = found("default", at_start=True)["config.W015"]
        assert "deliveries: test_reports." in message
        session.execute("ALTER ROLE test_reports SET statement_timeout = '5min'")
        assert found("default", at_start=True) == {}
    finally:
        session.execute("DROP OWNED BY test_reports, test_console")
        session.execute("DROP ROLE test_reports, test_console, test_stranger")


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
    assert "differ by 90.0 s" in found("default", at_start=True)["config.W010"]


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
