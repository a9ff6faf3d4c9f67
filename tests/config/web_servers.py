"""Web servers as the product runs them, with few threads and no cache, and requests that keep their threads busy."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import requests
from django.conf import settings
from django.test import Client

from accounts.models import User
from tests.faults.processes import ROOT, database_url
from tests.ports import free_port
from tests.webhooks.helpers import wait_until

THREADS = 8
REQUESTS = 3 * THREADS
CSRF = "c" * 32
NO_CACHE = "redis://127.0.0.1:1"  # so no limit counts, and only the bound refuses
COMMANDS = {
    "waitress": ["-c", "import django; django.setup(); from config.demo.processes import web_server; web_server('127.0.0.1:{port}').run()"],
    "gunicorn": ["-m", "gunicorn", "--config", "python:config.gunicorn", "config.wsgi"],
}  # fmt: skip


@dataclass(frozen=True)
class Ask:
    """One request. `who` is the user whose session it carries."""

    path: str
    method: str = "POST"
    body: Any = None
    form: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    files: Any = None
    who: User | None = None


class Server:
    """A process that serves the test's database."""

    def __init__(self, kind: str, log: Any) -> None:
        self.port = free_port()
        own = {
            "DATABASE_URL": database_url(), "REDIS_URL": NO_CACHE, "CELERY_BROKER_URL": "", "DEBUG": "1",
            "ALLOW_LOCAL_DESTINATIONS": "1", "AUTH_RATE_LIMITS": "off", "BIND": f"127.0.0.1:{self.port}",
            "WEB_PROCESSES": "1", "WEB_THREADS": str(THREADS), "DJANGO_SETTINGS_MODULE": "config.settings",
        }  # fmt: skip
        command = [part.format(port=self.port) for part in COMMANDS[kind]]
        self._process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env=os.environ | own, stdout=log, stderr=log
        )
        wait_until(self._answers, 90)

    def _answers(self) -> bool:
        assert self._process.poll() is None
        try:
            return requests.get(f"http://127.0.0.1:{self.port}/healthz", timeout=1).ok
        except requests.RequestException:
            return False

    def worker(self) -> int:
        """The process of gunicorn that answers."""
        pid = self._process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text())

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def send(self, ask: Ask) -> int:
        """The status of the answer."""
        at = urlsplit(ask.path)
        host = at.netloc or urlsplit(settings.BASE_URL).netloc
        headers = {"Host": host, "Accept": "text/html", **ask.headers}
        headers["X-CSRFToken"] = CSRF
        cookies = {settings.CSRF_COOKIE_NAME: CSRF} | (session_of(ask.who) if ask.who else {})
        body = ask.body if isinstance(ask.body, bytes) else orjson.dumps(ask.body) if ask.body else ask.form
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/json"
        answer = requests.request(
            ask.method, f"http://127.0.0.1:{self.port}{at.path}", params=at.query, data=body, files=ask.files,
            headers=headers, cookies=cookies, timeout=60, allow_redirects=False,
        )  # fmt: skip
        return answer.status_code

    def seconds_until(self, path: str) -> float:
        """Seconds until it answered on a new connection."""
        began, host = time.monotonic(), urlsplit(settings.BASE_URL).netloc
        assert requests.get(f"http://127.0.0.1:{self.port}{path}", headers={"Host": host}, timeout=60).ok
        return time.monotonic() - began


@cache
def session_of(user: User) -> dict[str, str]:
    browser = Client()
    browser.force_login(user)
    return {name: each.value for name, each in browser.cookies.items()}


@contextmanager
def serving(kind: str, folder: Path) -> Iterator[Server]:
    """`kind` is a key of `COMMANDS`."""
    with (folder / "log").open("wb") as log:
        server = Server(kind, log)
        try:
            yield server
        finally:
            server.end()
            session_of.cache_clear()
