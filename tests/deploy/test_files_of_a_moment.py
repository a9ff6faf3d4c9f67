"""Files of a bucket with versions go back to a moment, by the commands of docs/operations-run.md."""

import json
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.object_storage import BUCKET, CREDENTIALS, ObjectServer
from tools.backups import block

pytestmark = [pytest.mark.slow, pytest.mark.timed]


@pytest.fixture
def bucket() -> Iterator[ObjectServer]:
    """It keeps versions as the guide sets it up. `aws` has the words of the API, which the client here has, too."""
    with ObjectServer() as server:
        client = server.client()
        words = iter(shlex.split(block("keep-versions")))
        for word in words:
            if word == "s3api":
                call = getattr(client, next(words).replace("-", "_"))
                assert (next(words), next(words)) == ("--bucket", "$BUCKET")
                call(Bucket=BUCKET, **dict([option(next(words), next(words))]))
        yield server


def option(name: str, value: str) -> tuple[str, Any]:
    """`--versioning-configuration Status=Enabled` or JSON, as the API has it."""
    camel = "".join(part.capitalize() for part in name.removeprefix("--").split("-"))
    return camel, json.loads(value) if value.startswith("{") else dict([value.split("=")])


def test_deleted_and_replaced_files_go_back_to_a_moment(bucket: ObjectServer, tmp_path: Path) -> None:
    if shutil.which("rclone") is None:
        pytest.skip("rclone is not installed")
    client = bucket.client()
    for name in ("deleted", "replaced"):
        client.put_object(Bucket=BUCKET, Key=f"media/{name}.png", Body=b"as it was")
    time.sleep(1.1)  # whole seconds
    moment = datetime.now(UTC)
    time.sleep(1.1)
    client.delete_object(Bucket=BUCKET, Key="media/deleted.png")
    client.put_object(Bucket=BUCKET, Key="media/replaced.png", Body=b"as it is")
    client.put_object(Bucket=BUCKET, Key="media/new.png", Body=b"new")

    remote = {
        "TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": bucket.endpoint,
        "ACCESS_KEY_ID": CREDENTIALS["AWS_ACCESS_KEY_ID"], "SECRET_ACCESS_KEY": CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    }  # fmt: skip
    named = {f"RCLONE_CONFIG_FILES_{name}": value for name, value in remote.items()}
    named |= {"TARGET": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "BUCKET": BUCKET, "FOLDER": str(tmp_path / "files")}
    # Others for AWS would count before those of the remote.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | named
    commands = ["bash", "-euc", block("restore-files")]
    done = subprocess.run(commands, env=environment, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    contents = {name: bucket.read(name) for name in bucket.stored()}
    assert contents == {
        "media/deleted.png": b"as it was",
        "media/replaced.png": b"as it was",
        "media/new.png": b"new",
    }
