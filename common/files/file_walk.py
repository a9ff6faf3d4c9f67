"""Goes through the files of a storage without holding a list of them."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple


class StoredFile(NamedTuple):
    name: str  # in its storage
    changed_at: datetime


def walk(storage: Any, folder: str) -> Iterator[StoredFile]:
    """All files below a folder of a disk or a bucket, in no order. None where the folder is missing."""
    if hasattr(storage, "objects"):
        return (StoredFile(*each) for each in storage.objects(folder))
    return _on_disk(Path(storage.path(folder)), folder.rstrip("/"))


def _on_disk(path: Path, name: str) -> Iterator[StoredFile]:
    try:
        entries = os.scandir(path)
    except FileNotFoundError:
        return
    with entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _on_disk(path / entry.name, f"{name}/{entry.name}")
                continue
            try:
                changed_at = datetime.fromtimestamp(entry.stat(follow_symlinks=False).st_mtime, UTC)
            except FileNotFoundError:  # deleted meanwhile
                continue
            yield StoredFile(f"{name}/{entry.name}", changed_at)
