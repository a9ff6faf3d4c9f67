"""Files with secrets, which only the user can read."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class PrivateFile:
    """A file to be written whole or not at all. Opened before a secret is asked for: one that can't be kept isn't issued.

    Raises ``OSError`` where the file can't be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._draft = path.with_name(f"{path.name}.new")
        self._draft.unlink(missing_ok=True)
        # The mode is given at the creation, so that no other user can open the file in between.
        made = os.open(self._draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._opened = os.fdopen(made, "w", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()
        self._draft.unlink(missing_ok=True)

    def write(self, text: str) -> None:
        """Once."""
        self._opened.write(text)
        self._opened.close()
        self._draft.replace(self.path)
