"""The demo as the process that `make demo` starts, with its address and its end in the test's hands."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import requests

from tests.ports import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
START_WITHIN = 400  # seconds; a busy machine takes many


class Demo:
    """`manage.py demo` in a folder of its own, on two free ports."""

    def __init__(self, var_dir: Path, *arguments: str, **environment: str) -> None:
        self.var_dir = var_dir
        self.port, self.sample_app_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.sample_app_url = f"http://localhost:{self.sample_app_port}"
        self.stores_url = f"http://localhost:{self.port}"
        self._arguments, self._environment = arguments, environment
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> "Demo":
        """Begin, and return once both the platform and the sample app answer."""
        with (self.var_dir.parent / "demo.log").open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "demo", *self._arguments],
                cwd=ROOT,
                env=self.environment(),
                stdout=log,
                stderr=log,
                text=True,
            )
        runs_app = self.environment()["DEBUG"] == "1"
        try:
            for url in (self.url, self.sample_app_url) if runs_app else (self.url,):
                wait_until(lambda url=url: self._answers(url), START_WITHIN)
        except BaseException:
            self.end()
            raise
        return self

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def environment(self) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": os.environ.get("HOME", "/"),
            "VAR_DIR": str(self.var_dir),
            "PORT": str(self.port),
            "SAMPLE_APP_PORT": str(self.sample_app_port),
            "DEBUG": "1",
            "ALLOW_LOCAL_DESTINATIONS": "1",
            **self._environment,
        }

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Send the signal; the exit status of the process."""
        assert self._process
        self._process.send_signal(how)
        return self._process.wait(30)

    def end(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _answers(self, url: str) -> bool:
        assert self._process
        assert self._process.poll() is None, (self.var_dir.parent / "demo.log").read_text()
        try:
            return requests.get(f"{url}/healthz", timeout=2).ok
        except requests.RequestException:
            return False


class Newcomer:
    """A developer who has just registered, with the JSON API alone: an app, installed for test."""

    def __init__(self, demo: Demo, name: str) -> None:
        self._url = demo.url
        account = self.post(
            "/auth/register",
            email=f"{name}@example.net",
            password="sea otters hold hands",
            name="Nora Newcomer",
            role="DEVELOPER",
        )
        self._developer = {"Authorization": f"Bearer {account['accessToken']}"}
        app = self.post(
            "/developer/apps",
            self._developer,
            name="First app",
            slug=f"{name}-app",
            description="The first one.",
            category="other",
            scopes=["read_products", "read_orders", "write_orders"],
            redirectUrl="https://app.example.com/callback",
        )
        self.token: str = self.post(f"/developer/apps/{app['id']}/test-install", self._developer)[
            "accessToken"
        ]
        self.app = {"Authorization": f"Bearer {self.token}"}

    def post(self, path: str, headers: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
        response = requests.post(self._url + path, json=body or None, headers=headers, timeout=10)
        assert response.ok, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def place_order(self) -> dict[str, Any]:
        products = requests.get(
            f"{self._url}/app-api/products?isAvailable=true&limit=100", headers=self.app, timeout=10
        ).json()["data"]
        product = next(each for each in products if each["stock"] is None)
        return self.post(
            "/app-api/orders",
            self.app,
            items=[{"productId": product["id"], "quantity": 1}],
            customer={"name": "Kim", "email": "kim@example.com"},
            deliveryMethod="PICKUP",
            paymentMethod="CASH",
        )
