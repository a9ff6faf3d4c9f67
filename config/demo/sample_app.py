"""The sample app beside the demo: a process of its own, as a third party's app would be."""

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from config.demo.order_bell import Credentials
from stores.addresses import stores_origin

PASSED_ON = ("PATH", "PYTHONPATH", "HOME", "LANG")


class SampleApp:
    """`examples.sample_app` on a port of its own.

    It stops when its standard input closes, so it never outlives the demo, not even one that is killed.
    """

    def __init__(self, *, port: int, state_file: Path) -> None:
        self.url = f"http://localhost:{port}"  # apart from the platform's cookies, which ignore ports
        self.state_file = state_file
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, credentials: Credentials) -> None:
        """Pass the credentials in the environment, because everyone on the machine can read a command line."""
        self.state_file.parent.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name in PASSED_ON}
        given = {
            "CLIENT_ID": credentials.client_id,
            "CLIENT_SECRET": credentials.client_secret,
            "ACCESS_TOKEN": " ".join(token for token, _ in credentials.stores),
            "WEBHOOK_SECRET": " ".join(secret for _, secret in credentials.stores),
        }
        environment |= {name: value for name, value in given.items() if value}
        self._process = subprocess.Popen(  # noqa: S603
            [
                sys.executable, "-m", "examples.sample_app",
                "--port", str(self._port),
                "--platform", settings.BASE_URL,
                "--stores", stores_origin(),
                "--state-file", str(self.state_file),
                "--exit-with-stdin",
            ],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the demo, which then ends the app
        )  # fmt: skip

    def stop(self) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
