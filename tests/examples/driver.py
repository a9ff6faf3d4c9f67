"""The running sample app, as a test drives it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


class SampleApp:
    """A running sample app, driven over HTTP by one browser. That sees what it has connected, or what it was let in to."""

    def __init__(self, url: str, stop: Callable[[], None]) -> None:
        self.url = url
        self.stop = stop
        self.browser = requests.Session()

    def take_over(self, other: SampleApp) -> None:
        """The browser of one that ran before at another port, which its cookie names."""
        self.browser = other.browser
        for cookie in list(other.browser.cookies):
            if cookie.name.startswith("order_bell_"):
                self.browser.cookies.set(
                    f"order_bell_{urlsplit(self.url).port}", cookie.value, domain=cookie.domain
                )

    def received(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/received.json").json()["received"]
        return found

    def get(self, path: str, **headers: str) -> requests.Response:
        return self.browser.get(self.url + path, headers=headers, timeout=5)

    def page(self, path: str = "/") -> str:
        return self.get(path).text

    def store(self, installation: str) -> str:
        return self.page(f"/stores/{installation}")

    def press(self, path: str, **fields: str) -> str:
        """Post a form as the page's own, and return the page that follows."""
        answer = self.browser.post(self.url + path, data=fields, headers={"Origin": self.url}, timeout=5)
        assert answer.status_code == 200
        assert answer.history[0].status_code == 303
        return answer.text

    def wait_until_connected(self) -> None:
        """Whatever it was started with."""
        wait_until(lambda: 'class="waiting"' not in self.page())


class SampleAppProcess(SampleApp):
    """The same as ``python -m examples.sample_app`` starts it."""

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        super().__init__(url, self.end)
        self.process = process

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(5)
