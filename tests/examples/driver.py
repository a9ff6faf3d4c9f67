"""The running sample app, as a test drives it."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests

ROOT = Path(__file__).resolve().parents[2]


class SampleApp:
    """A running sample app, driven over HTTP as a browser and the platform would."""

    def __init__(self, url: str, stop: Callable[[], None]) -> None:
        self.url = url
        self.stop = stop

    def received(self) -> list[dict[str, Any]]:
        return requests.get(f"{self.url}/received.json", timeout=5).json()["received"]

    def page(self) -> str:
        return requests.get(f"{self.url}/", timeout=5).text

    def token(self) -> str:
        found = re.search(r'name="csrf" value="([^"]+)"', self.page())
        assert found
        return found[1]

    def press(self, path: str, **fields: str) -> str:
        """Post a form as the page's own, and return the page that follows."""
        answer = requests.post(
            self.url + path,
            data={"csrf": self.token(), **fields},
            headers={"Origin": self.url},
            timeout=5,
        )
        assert answer.status_code == 200
        assert answer.history[0].status_code == 303
        return answer.text


class SampleAppProcess(SampleApp):
    """The same as ``python -m examples.sample_app`` starts it."""

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        super().__init__(url, self.end)
        self.process = process

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(5)
