"""A real S3 server: moto's, as a process that keeps everything in memory."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import boto3
import requests

from tests.ports import free_port
from tests.webhooks.helpers import wait_until

BUCKET = "extension-platform"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


class ObjectServer:
    """A context manager. `command` is put before its own, to run it elsewhere."""

    def __init__(
        self, address: str = "127.0.0.1", port: int | None = None, command: tuple[str, ...] = ()
    ) -> None:
        self.port = port or free_port()
        self.endpoint = f"http://{address}:{self.port}"
        self.url = f"s3://{BUCKET}/shops?endpoint={self.endpoint}&region=us-east-1"
        self._command = (
            *command, sys.executable, "-m", "moto.server", "--host", address, "--port", str(self.port),
        )  # fmt: skip

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=Path(__file__).parents[1],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait(self) -> None:
        wait_until(self._answers, timeout=60)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    def make_bucket(self) -> None:
        self.client().create_bucket(Bucket=BUCKET)

    def client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )

    def stored(self) -> set[str]:
        """The names of all objects."""
        return {each["Key"] for each in self.client().list_objects_v2(Bucket=BUCKET).get("Contents", [])}

    def read(self, name: str) -> bytes:
        return bytes(self.client().get_object(Bucket=BUCKET, Key=name)["Body"].read())

    def _answers(self) -> bool:
        assert self._process.poll() is None
        try:
            return requests.get(f"{self.endpoint}/moto-api/", timeout=1).ok
        except requests.RequestException:
            return False

    def __enter__(self) -> Self:
        self.start()
        self.wait()
        self.make_bucket()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
