"""A second session of the test's PostgreSQL database."""

from typing import Any

import psycopg
from django.db import connection


def another_session() -> "psycopg.Connection[Any]":
    """Not closed by the test's end, and in a transaction from its first statement. Use it in a `with`."""
    server = connection.get_connection_params()
    given = {name: server[name] for name in ("host", "port", "user", "password", "dbname") if name in server}
    return psycopg.connect(**given)
