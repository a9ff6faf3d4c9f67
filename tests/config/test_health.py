import socket
import threading
from functools import partial
from time import monotonic
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.test.utils import CaptureQueriesContext
from kombu import Connection

from common.db import schema
from config import health
from config.celery import app as celery_app


@pytest.mark.spec("Contract 7 Pages", "/healthz says that the process lives")
def test_healthz(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.spec("Contract 0 Conventions", "every JSON response >= 400 has the error shape")
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_health_is_only_read(path: str, method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert response.json() == {
        "statusCode": 405,
        "message": f'Method "{method}" not allowed.',
        "error": "Method Not Allowed",
    }


@pytest.mark.spec(
    "Contract 0 Conventions", "A JSON path works with and without a trailing slash, with no redirect"
)
@pytest.mark.parametrize("path", ["/healthz/", "/readyz/"])
def test_health_has_the_same_answer_with_a_trailing_slash(client: Client, db: None, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.json()["status"]) == (200, "ok")


@pytest.mark.spec("Contract 0 Conventions", "OPTIONS names the methods")
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_options_of_health_lists_the_methods(client: Client, path: str) -> None:
    response = client.options(path)
    assert (response.status_code, response.content, response["Allow"]) == (204, b"", "GET, HEAD, OPTIONS")


@pytest.mark.spec("Contract 7 Pages", "/readyz says whether database, broker and cache are reachable")
def test_readyz_names_every_part(client: Client, db: None) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {
        "status": "ok",
        "database": "ok",
        "migrations": "ok",
        "broker": "ok",
        "cache": "ok",
        "deliveries": "ok",
    }


@pytest.mark.spec("Contract 7 Pages", "/readyz says whether the database is migrated")
def test_readyz_waits_for_the_migrations_of_this_release(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_complete", threading.Event())
    applied = MigrationRecorder(connection)
    (newest,) = MigrationLoader(connection).graph.leaf_nodes("stores")
    applied.record_unapplied(*newest)
    response = client.get("/readyz")
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["message"] == "Not all applied yet: migrations. Run `manage.py migrate`."

    applied.record_applied(*newest)
    assert client.get("/readyz").status_code == 200
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/readyz").json()["migrations"] == "ok"
    assert not [query for query in queries if "django_migrations" in query["sql"]]


@pytest.mark.spec("Contract 7 Pages", "/readyz says whether database, broker and cache are reachable")
def test_readyz_names_the_part_that_is_gone_and_logs_it_once(
    client: Client, db: None, settings: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_states", {})
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    for _ in range(3):
        response = client.get("/readyz")
        assert (response.status_code, response.json()["cache"]) == (200, "unavailable")
        response = client.get("/readyz?strict")
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert response.json() == {
            "statusCode": 503,
            "message": "Can't be reached right now: cache.",
            "error": "Service Unavailable",
        }
    (line,) = [record for record in caplog.records if record.levelname != "INFO"]
    assert line.getMessage().startswith("cache is not ready: ConnectionError: ")
    assert not line.exc_info


@pytest.mark.long
@pytest.mark.spec("Contract 7 Pages", "An outage of broker or cache is said, and the machine stays")
def test_broker_that_never_answers_is_named_within_a_second(
    client: Client, db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        settings.CELERY_BROKER_URL = url
        waits = {"socket_timeout": 1, "socket_connect_timeout": 1, "max_retries": 0}
        connect = partial(Connection, url, transport_options=waits)
        monkeypatch.setattr(celery_app, "connection_for_write", connect)
        began = monotonic()
        response = client.get("/readyz")
        assert monotonic() - began < 1
        assert (response.status_code, response.json()["broker"]) == (200, "unavailable")
        response = client.get("/readyz?strict")
        assert (response.status_code, response.json()["message"]) == (
            503,
            "Can't be reached right now: broker.",
        )


@pytest.mark.parametrize(
    ("path", "status"), [("/healthz", 200), ("/readyz", 200), ("/readyz/", 200), ("/marketplace/", 301)]
)
def test_health_is_read_at_the_machine_itself_without_tls(
    client: Client, db: None, settings: Any, path: str, status: int
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get(path).status_code == status
