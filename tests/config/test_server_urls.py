"""URLs of servers: those that name none of ours stop the start. `tests/faults/test_brokers.py` has real Sentinels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from common.processes import sentinel
from config.env import servers

URL = "sentinel://:pass%2Fword@10.0.0.1:26380,redis.internal/2?master=main"


def test_sentinels_and_master_are_read() -> None:
    address = sentinel.parse(URL)
    assert address.sentinels == (("10.0.0.1", 26380), ("redis.internal", 26379))
    assert address.broker_url() == (
        "sentinel://:pass%2Fword@10.0.0.1:26380/2;sentinel://:pass%2Fword@redis.internal:26379/2"
    )
    pool = address.pool(socket_timeout=0.5)
    assert pool.service_name == "main"
    assert (pool.connection_kwargs["db"], pool.connection_kwargs["password"]) == (2, "pass/word")


@pytest.mark.parametrize(
    "url",
    [
        "sentinel://10.0.0.1:26379/0",
        "sentinel://:secret@10.0.0.1/0?master=main&sentinel=x",
        "sentinel://:secret@10.0.0.1:port/0?master=main",
        "sentinel://:secret@,10.0.0.1/0?master=main",
        "sentinel://:secret@10.0.0.1/first?master=main",
    ],
)
def test_incomplete_sentinel_stops_the_start(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(
        ImproperlyConfigured, match=r"REDIS_URL must .*sentinel://10.0.0.1:26379,10"
    ) as refused:
        servers.cache_url(debug=False)
    assert "secret" not in str(refused.value)


READERS: dict[str, Callable[[], Any]] = {
    "DATABASE_URL": lambda: servers.database_url(debug=False, var_dir=Path("/nowhere")),
    "REDIS_URL": lambda: servers.cache_url(debug=False),
    "CELERY_BROKER_URL": lambda: servers.broker_url("redis://host:6379/0"),
    "EMAIL_URL": lambda: servers.email_url(debug=False),
    "OTEL_EXPORTER_OTLP_ENDPOINT": servers.collector_url,
    "SENTRY_DSN": servers.sentry_dsn,
}


@pytest.mark.parametrize(
    ("variable", "url", "scheme"),
    [
        ("DATABASE_URL", "mysql://secret@host/name", "mysql"),
        ("DATABASE_URL", "postgis://secret@host/name", "postgis"),
        ("REDIS_URL", "http://secret@host", "http"),
        ("REDIS_URL", "amqp://secret@host//", "amqp"),
        ("CELERY_BROKER_URL", "sqs://secret@host", "sqs"),
        ("EMAIL_URL", "mailto:secret@host", ""),
        ("EMAIL_URL", "https://secret@host", "https"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://secret:4317", "grpc"),
        ("SENTRY_DSN", "secret", ""),
    ],
)
def test_scheme_of_another_server_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, variable: str, url: str, scheme: str
) -> None:
    monkeypatch.setenv(variable, url)
    with pytest.raises(ImproperlyConfigured) as refused:
        READERS[variable]()
    message = str(refused.value)
    assert message.startswith(f"{variable} must start with ")
    assert (f", not with {scheme}://. For example: " in message) is bool(scheme)
    assert "secret" not in message


def test_server_without_a_database_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@host")
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL names no database") as refused:
        READERS["DATABASE_URL"]()
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("variable", "url"),
    [
        ("DATABASE_URL", "postgresql://user:pass#word@one,two/name"),
        ("DATABASE_URL", "sqlite:////srv/one.sqlite3"),
        ("REDIS_URL", "rediss://:password@host:6379/0"),
        ("CELERY_BROKER_URL", " amqp://guest@host:5672// "),
        ("CELERY_BROKER_URL", "amqps://guest@host"),
        ("CELERY_BROKER_URL", "memory://"),
        ("EMAIL_URL", "smtp+tls://user:password@host:587"),
        ("EMAIL_URL", "dummymail://"),
        ("SENTRY_DSN", "https://key@host/7"),
    ],
)
def test_url_of_a_server_is_kept(monkeypatch: pytest.MonkeyPatch, variable: str, url: str) -> None:
    monkeypatch.setenv(variable, url)
    assert READERS[variable]() == url.strip()
