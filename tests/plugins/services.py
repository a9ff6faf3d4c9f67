"""Chooses what the tests run against, before Django reads its settings.

PostgreSQL and Redis are used where they answer (`DATABASE_URL` and `REDIS_URL`, else the loopback defaults),
and the embedded parts where not; a test marked for a missing service names itself as skipped. With
`REQUIRE_SERVICES=1` a missing service is a failure, as is every test that skips itself because a program isn't there.
`EMBEDDED=1` chooses the embedded parts in any case.
"""

import os
import shutil
import socket
import tempfile
from collections.abc import Generator
from urllib.parse import urlsplit

import pytest

DEFAULTS = {
    "DATABASE_URL": "postgres://postgres@127.0.0.1:5432/extension_platform",
    "REDIS_URL": "redis://127.0.0.1:6379/15",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EMBEDDED = os.environ.get("EMBEDDED") == "1"
REQUIRED = os.environ.get("REQUIRE_SERVICES") == "1"


def answers(url: str) -> bool:
    """Whether something listens where the URL points."""
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 0), timeout=1):
            return True
    except OSError:
        return False


def browser() -> str | None:
    """The path of a Chromium, if there is one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def _choose() -> dict[str, bool]:
    present = {"postgres": False, "redis": False, "browser": browser() is not None}
    for name, variable in (("postgres", "DATABASE_URL"), ("redis", "REDIS_URL")):
        url = "" if EMBEDDED else os.environ.get(variable, DEFAULTS[variable])
        if url and not url.startswith("sqlite") and answers(url):
            os.environ[variable] = url
            present[name] = True
        elif not (variable == "DATABASE_URL" and os.environ.get(variable, "").startswith("sqlite")):
            os.environ.pop(variable, None)
    return present


SERVICES = _choose()
# Workers of pytest-xdist share a folder: the secrets of this run are made once and passed on.
if "PYTEST_XDIST_WORKER" not in os.environ:
    os.environ["VAR_DIR"] = tempfile.mkdtemp(prefix="extension-platform-tests-")
os.environ |= {
    "DEBUG": "1",
    "ALLOW_LOCAL_DESTINATIONS": "1",
    "CELERY_BROKER_URL": "memory://localhost",
    "BASE_URL": "http://testserver",
    "STORES_URL": "http://stores.test",
    "ALLOWED_HOSTS": "127.0.0.1,localhost",
    "EMAIL_URL": "memorymail://",
}
for _name in ("WEBHOOK_RETRY_DELAYS", "DATA_ERASURE_DELAY", "AUTH_RATE_LIMITS", "PORT"):
    os.environ.pop(_name, None)


def pytest_report_header() -> str:
    found = ", ".join(f"{name}: {'yes' if there else 'no'}" for name, there in SERVICES.items())
    return f"services: {found}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if EMBEDDED:
        missing = {name for name in ("postgres", "redis") if not SERVICES[name]}
    else:
        missing = {name for name, there in SERVICES.items() if not there}
        if missing and REQUIRED:
            raise pytest.UsageError(f"REQUIRE_SERVICES=1, but missing: {', '.join(sorted(missing))}")
    for item in items:
        for name in missing & {mark.name for mark in item.iter_markers()}:
            item.add_marker(pytest.mark.skip(reason=f"needs {name}, which is not here"))


@pytest.hookimpl(wrapper=True, tryfirst=True)  # around the one that makes xfail of a failure
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        assert isinstance(report.longrepr, tuple)
        *_, reason = report.longrepr
        report.outcome, report.longrepr = "failed", f"REQUIRE_SERVICES=1, but: {reason}"
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(os.environ["VAR_DIR"], ignore_errors=True)
