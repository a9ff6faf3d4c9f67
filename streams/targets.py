"""Where batches of events go: a folder, a bucket, or the standard input of a command. `write` returns once they are safe there."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings
from django.core.files.base import File

from common.files import buckets


class NotTaken(Exception):
    """The command didn't take the batch."""


class InFolder:
    """One file for each batch. A file has its name only when it is complete; before that its name begins with a dot."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, name: str, lines: Iterator[bytes]) -> None:
        file = self._path / f"{name}.ndjson"
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=".", delete=False) as draft:
            try:
                draft.writelines(lines)
                draft.flush()
                os.fsync(draft.fileno())
                os.replace(draft.name, file)
            except BaseException:
                os.unlink(draft.name)
                raise
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class Bucket:
    """One object for each batch. `url` is that of `common.files.buckets`, which raises `ValueError` for others."""

    def __init__(self, url: str) -> None:
        options = buckets.options_of(url) | settings.BUCKET_KEYS
        from common.files.object_storage import ObjectStorage  # needs the extra `s3`

        self._storage = ObjectStorage(
            **options, object_parameters={"ContentType": "application/x-ndjson"}, file_overwrite=True
        )

    def write(self, name: str, lines: Iterator[bytes]) -> None:
        with tempfile.TemporaryFile() as draft:
            draft.writelines(lines)
            draft.seek(0)
            self._storage.save(f"{name}.ndjson", File(draft))


class Pipe:
    """Runs the command for each batch. It acknowledges the batch by reading all of it and exiting with 0."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments

    def write(self, name: str, lines: Iterator[bytes]) -> None:
        with subprocess.Popen(self._arguments, stdin=subprocess.PIPE) as process:  # noqa: S603  the operator's
            assert process.stdin
            has_read = True
            try:
                with process.stdin as target:
                    target.writelines(lines)
            except BrokenPipeError:
                has_read = False
        if process.returncode:
            raise NotTaken(f"{self._arguments[0]} ended with {process.returncode}")
        if not has_read:
            raise NotTaken(f"{self._arguments[0]} ended before it had read the batch")


Target = InFolder | Bucket | Pipe
