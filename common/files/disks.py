"""Disks without space: how that is recognized, and files that don't stay half written."""

from errno import EDQUOT, ENOSPC
from typing import Final

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage
from django.utils.translation import gettext_noop

MESSAGE: Final = gettext_noop("The platform's storage is full at the moment. Try again in a few minutes.")
CODE: Final = "storage_full"
RETRY_AFTER: Final = 60  # seconds
OF_POSTGRESQL: Final = "53100"  # disk_full
OF_TEMPFILE: Final = "No usable temporary directory"  # it has tried to write to each


def is_full(error: BaseException | None) -> bool:
    """Whether a disk without space caused the error: one of this machine, or the database's."""
    while error is not None:
        if isinstance(error, OSError) and (error.errno in (ENOSPC, EDQUOT) or OF_TEMPFILE in str(error)):
            return True
        if getattr(error, "sqlstate", "") == OF_POSTGRESQL:
            return True
        if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
            return True
        error = error.__cause__ or error.__context__
    return False


class DiskStorage(FileSystemStorage):
    """Files in a folder. One that doesn't fit leaves nothing behind. Names are never used twice."""

    def _save(self, name: str, content: File) -> str:
        try:
            saved: str = super()._save(name, content)  # type: ignore[misc]
        except OSError as error:
            if is_full(error):
                self.delete(name)
            raise
        return saved
