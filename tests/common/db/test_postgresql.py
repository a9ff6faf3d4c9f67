"""A session with PostgreSQL that is kept from request to request."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import InternalError, OperationalError, connection, transaction
from django.test import RequestFactory

from common.web.errors import answer_to
from tests.strangers import visit

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def kept() -> Iterator[Any]:
    """A session of our own, as a request finds it that another one has left."""
    session = connection.copy()
    session.settings_dict = session.settings_dict | {"CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": 600}
    ask(session)
    next_request(session)
    yield session
    session.close()


@contextmanager
def transaction_of(session: Any) -> Iterator[None]:
    """An open transaction that nothing ends."""
    session.connect()
    session.set_autocommit(False)
    try:
        yield
    finally:
        session.close()


def ask(session: Any) -> int:
    """The number of the process that serves the session."""
    with session.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def next_request(session: Any) -> None:
    session.close_if_unusable_or_obsolete()
    assert session.health_check_enabled
    assert not session.health_check_done


def test_session_that_is_alive_is_not_asked_for_it(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    execute = psycopg.Connection.execute
    monkeypatch.setattr(
        psycopg.Connection,
        "execute",
        lambda self, sql, *a, **k: asked.append(sql) or execute(self, sql, *a, **k),
    )
    before = ask(kept)
    next_request(kept)
    assert ask(kept) == before
    assert "SELECT 1" not in asked


def test_session_that_the_server_ended_is_replaced_unnoticed(kept: Any) -> None:
    before = ask(kept)
    next_request(kept)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [before])
        assert cursor.fetchone() == (True,)
    assert ask(kept) != before


def test_connection_that_was_closed_on_our_side_is_replaced_too(kept: Any) -> None:
    before = ask(kept)
    next_request(kept)
    kept.connection.close()
    assert ask(kept) != before


@pytest.mark.long
def test_session_that_idles_in_a_transaction_is_ended() -> None:
    session = connection.copy()
    options = dict(session.settings_dict["OPTIONS"])
    options["options"] = options["options"].replace("timeout=2min", "timeout=100ms")
    session.settings_dict = session.settings_dict | {"OPTIONS": options}
    with transaction_of(session):
        ask(session)
        time.sleep(0.5)
        with pytest.raises(InternalError):
            ask(session)


def test_sessions_of_requests_wait_a_second_for_a_lock_and_five_for_a_statement() -> None:
    def limits() -> list[str]:
        session = connection.copy()
        try:
            with session.cursor() as cursor:
                cursor.execute("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")
                return list(cursor.fetchone())
        finally:
            session.close()

    assert visit(limits) == ["1s", "5s"]
    assert limits() == ["0", "0"]  # a worker's, and a command's


def test_statement_that_takes_too_long_is_a_503_with_a_code() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = '50ms'")
        with pytest.raises(OperationalError) as slow:
            cursor.execute("SELECT pg_sleep(5)")
        transaction.set_rollback(True)
    answer = answer_to(RequestFactory(headers={"accept": "application/json"}).get("/"), slow.value)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "database_too_slow")
    assert answer.headers["Retry-After"] == "5"
