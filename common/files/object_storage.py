"""Files in a bucket of an S3 server, for installations of several machines (docs/decisions/0043).

The bucket is private: the platform reads the files and answers with them, so their addresses, headers and permissions are
those of files on a disk.
"""

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from django.core.files.base import File
from storages.backends.s3 import S3Storage

from common.errors import Unavailable
from common.processes.circuit import Circuit

RETRY_AFTER: Final = 5  # seconds
CONFIG: Final = Config(
    connect_timeout=2,
    read_timeout=5,  # seconds; a request has two tries, and people wait for it
    retries={"mode": "standard", "total_max_attempts": 2},
    max_pool_connections=32,
    # Other checksums than Content-MD5 are unknown to many servers.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
    # `bucket.example.com` needs a name and a certificate for each bucket.
    s3={"addressing_style": "path"},
)
PAUSE: Final = 5.0  # seconds without a request, after one that was not answered
BEGINNING: Final = threading.Lock()


class ObjectStorage(S3Storage):
    """Raises `Unavailable` if the server can't be reached or refuses."""

    def get_default_settings(self) -> dict[str, Any]:
        return super().get_default_settings() | {"client_config": CONFIG}

    @cached_property
    def client(self) -> Any:
        """One for all threads of this process, which may share clients but not the library's resources."""
        with BEGINNING:
            session = self._create_session()
            return session.client(
                "s3",
                endpoint_url=self.endpoint_url,
                region_name=self.region_name,
                config=self.client_config,
            )

    def create_bucket(self) -> None:
        """Does nothing if there is one."""
        with _refusals(self.bucket_name):
            try:
                self.client.head_bucket(Bucket=self.bucket_name)
            except ClientError as error:
                if error.response["Error"]["Code"] != "404":
                    raise
                elsewhere = self.region_name not in (None, "us-east-1")  # which must not be named
                where = (
                    {"CreateBucketConfiguration": {"LocationConstraint": self.region_name}}
                    if elsewhere
                    else {}
                )
                self.client.create_bucket(Bucket=self.bucket_name, **where)

    def _open(self, name: str, mode: str = "rb") -> File:
        assert mode == "rb", mode
        with _refusals(name):
            return File(io.BufferedReader(_Object(self, self._normalize_name(name))), name)

    def _save(self, name: str, content: File) -> str:
        with _refusals(name):
            saved: str = super()._save(name, content)
        return saved

    def delete(self, name: str) -> None:
        with _refusals(name):
            super().delete(name)

    def exists(self, name: str) -> bool:
        with _refusals(name):
            return bool(super().exists(name))

    def objects(self, folder: str) -> Iterator[tuple[str, datetime]]:
        """Names and times of all objects below a folder, asked for page by page."""
        below = f"{self._normalize_name(folder).rstrip('/')}/"
        answers = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket_name, Prefix=below)
        pages = iter(answers)
        while True:
            with _refusals(folder):
                page = next(pages, None)
            if page is None:
                return
            for each in page.get("Contents", ()):
                yield f"{folder.rstrip('/')}/{each['Key'].removeprefix(below)}", each["LastModified"]

    def size(self, name: str) -> int:
        with _refusals(name):
            return int(
                self.client.head_object(Bucket=self.bucket_name, Key=self._normalize_name(name))[
                    "ContentLength"
                ]
            )


class _Object(io.RawIOBase):
    """An object that is read as it arrives, from where the reader wants to begin."""

    def __init__(self, storage: ObjectStorage, key: str) -> None:
        self._storage, self._key = storage, key
        self._at = 0
        self._fetch()
        self._size: int = self._answer["ContentLength"]

    def _fetch(self) -> None:
        """Raises the library's errors."""
        part = {"Range": f"bytes={self._at}-"} if self._at else {}
        self._answer = self._storage.client.get_object(
            Bucket=self._storage.bucket_name, Key=self._key, **part
        )
        self._body, self._body_at = self._answer["Body"], self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._size:
            return 0
        with _refusals(self._key):
            if self._body_at != self._at:
                self._body.close()
                self._fetch()
            data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        self._body_at = self._at
        return len(data)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_body"):
            self._body.close()
        super().close()


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Errors of the library as ours. A missing object is a missing file, as on a disk."""
    try:
        with CIRCUIT.asking(BotoCoreError, HTTPClientError):
            yield
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404 and _of_object(error):
            raise FileNotFoundError(name) from None
        raise _unavailable() from error
    except (BotoCoreError, HTTPClientError) as error:
        raise _unavailable() from error


def _of_object(error: ClientError) -> bool:
    """Whether the object is missing, and not the bucket. HEAD has no body that says which."""
    return bool(error.response["Error"]["Code"] in ("NoSuchKey", "404"))


def _unavailable() -> Unavailable:
    return Unavailable(
        "Files can't be reached right now. Try again in a few seconds.",
        retry_after=RETRY_AFTER,
        code="files_unreachable",
    )


CIRCUIT: Final = Circuit(
    PAUSE, _unavailable
)  # so that only a process's first threads wait for a silent server
