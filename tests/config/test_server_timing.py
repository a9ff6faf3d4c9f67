"""`Server-Timing` is there with `DEBUG`, and nowhere else."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from tests.config.commands import run
from tests.pages import signed_in

HEADER = re.compile(
    r'total;dur=(?P<total>[\d.]+), db;dur=(?P<db>[\d.]+);desc="(?P<statements>\d+) statements", render;dur=(?P<render>[\d.]+)'
)
ASK = """
import django
from django.test import Client
django.setup()
answer = Client(SERVER_NAME="platform.example").get("/healthz", secure=True)
assert answer.status_code == 200
print(answer.headers.get("Server-Timing"))
"""


@pytest.mark.django_db
def test_header_counts_statements_and_the_time_of_templates_apart(dana: User) -> None:
    assert "common.web.middleware.server_timing.ServerTimingMiddleware" in settings.MIDDLEWARE
    browser = signed_in(dana)
    browser.get("/portal/")
    with CaptureQueriesContext(connection) as queries:
        found = HEADER.fullmatch(browser.get("/portal/")["Server-Timing"])
    assert found
    assert int(found["statements"]) == len(queries) > 1
    total, database, rendering = (float(found[name]) for name in ("total", "db", "render"))
    assert database > 0
    assert rendering > 0
    assert database + rendering <= total


@pytest.mark.django_db
def test_what_is_no_page_has_no_time_of_templates() -> None:
    found = HEADER.fullmatch(Client().get("/healthz")["Server-Timing"])
    assert found
    assert float(found["render"]) == 0


@pytest.mark.long
@pytest.mark.parametrize(("debug", "is_there"), [("1", True), ("0", False)])
def test_header_is_there_with_debug_only(tmp_path: Path, debug: str, is_there: bool) -> None:
    answer = run(tmp_path, "-c", ASK, DEBUG=debug)
    assert answer.returncode == 0, answer.stderr
    assert bool(HEADER.fullmatch(answer.stdout.strip())) is is_there, answer.stdout
    assert (answer.stdout.strip() == "None") is not is_there
