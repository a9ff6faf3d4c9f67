"""Workers and runs share one migrated database, which PostgreSQL copies in a moment. To migrate takes half a minute.

It is a template for the test databases, named after all migrations, so it is made again whenever one changes.
"""

import gc
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

ROOT = Path(__file__).parents[1]
LOCK = 0x7E57  # held while one process makes the template


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Part of pytest-django: what it creates the test databases from."""
    url = os.environ.get("DATABASE_URL", "")
    if url.startswith("postgres"):
        settings.DATABASES["default"].setdefault("TEST", {})["TEMPLATE"] = _template(url)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Part of pytest-django: the test database, which it drops in the end.

    Threads of tests that have ended leave sessions: in circles of objects, or in the warning of such a session that pytest keeps. While one is
    open, the database can't be dropped.
    """
    yield
    for each in gc.get_objects():
        if issubclass(type(each), psycopg.Connection):  # `isinstance` would ask a proxy what it stands for
            each.close()


def _template(url: str) -> str:
    """The name of a database with all migrations of this tree."""
    prefix = f"template_{urlsplit(url).path.strip('/')}_"
    name = prefix + _digest_of_migrations()
    with psycopg.connect(urlsplit(url)._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        found = {
            row[0]
            for row in server.execute(
                "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [prefix]
            )
        }
        for former in found - {name}:
            server.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(former)))
        if name not in found:
            _migrate(server, url, name)
    return name


def _migrate(server: psycopg.Connection, url: str, name: str) -> None:
    unfinished = f"{name}_unfinished"
    server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(unfinished)))
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"],
        cwd=ROOT,
        env=os.environ
        | {
            "DATABASE_URL": urlsplit(url)._replace(path=f"/{unfinished}").geturl(),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
        },
        check=True,
    )
    server.execute(
        sql.SQL("ALTER DATABASE {} RENAME TO {}").format(sql.Identifier(unfinished), sql.Identifier(name))
    )


def _digest_of_migrations() -> str:
    digest = hashlib.sha256()
    for path in sorted(
        [*ROOT.glob("*/migrations/*.py"), *ROOT.glob("common/db/*.py"), ROOT / "constraints.txt"]
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
