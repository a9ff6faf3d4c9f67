"""Small file systems of a test's own, which it may fill."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest
import requests

CHUNK: Final = 64 * 1024  # bytes
FULL: Final = "The platform's storage is full at the moment. Try again in a few minutes."


class Disk:
    """A file system in memory at `folder`. A context manager. Skips the test without the right to mount one."""

    def __init__(self, folder: Path, *, megabytes: int) -> None:
        self.folder, self._size = folder, f"{megabytes}m"

    @property
    def _filler(self) -> Path:
        return self.folder / "filler"

    def fill(self) -> None:
        """Take all space that is left, to the last block. Again and again where something gives some back."""
        with self._filler.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(CHUNK))

    def make_room(self) -> None:
        self._filler.unlink()

    @contextmanager
    def full(self) -> Iterator[None]:
        self.fill()
        try:
            yield
        finally:
            self.make_room()

    @property
    def alone(self) -> tuple[str, ...]:
        """What is put before a command for which this disk is `/tmp` and `/dev/shm`, and all that can be written."""
        mounts = [f"mount --bind {self.folder} {folder}" for folder in ("/dev/shm", "/tmp")]  # noqa: S108
        script = " && ".join([*mounts, "mount -o remount,ro,bind /", 'exec "$@"'])
        return ("unshare", "--mount", "sh", "-c", script, "sh")

    def __enter__(self) -> "Disk":
        self.folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={self._size},mode=0755", "none", str(self.folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("mounts a file system, which isn't allowed here")
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


def assert_no_room(response: requests.Response) -> None:
    assert (response.status_code, response.headers.get("Retry-After")) == (503, "60"), response.text
    assert (response.json()["message"], response.headers.get("X-Error-Code")) == (FULL, "storage_full")
