"""What Prometheus' client counts for several processes, in files that they map into memory.

A write into a mapped file for which the disk has no space ends the process (SIGBUS). So each file gets its space before it is
mapped. Where there is none, counting goes on in this process' memory, unseen by the others.
"""

import fcntl
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from prometheus_client import values
from prometheus_client.mmap_dict import MmapedDict

SIZE: Final = 1 << 16  # bytes of a new file, as the client has it
KINDS: Final = ("counter", "histogram")


class Counts(MmapedDict):
    def __init__(self, filename: str, read_mode: bool = False) -> None:
        super().__init__(filename if read_mode else _with_space(filename), read_mode)

    def _init_value(self, key: str) -> None:
        if self._used + len(key.encode()) + 32 > self._capacity:
            self._grow()
        super()._init_value(key)

    def _grow(self) -> None:
        counted, size = self._m[:], 2 * self._capacity
        try:
            os.posix_fallocate(self._f.fileno(), 0, size)
        except OSError:
            self._f.close()
            self._f = Path(_in_memory()).open("a+b")  # noqa: SIM115  kept, as the first one was
            self._f.truncate(size)
        self._m, self._capacity = mmap.mmap(self._f.fileno(), size), size
        self._m[: len(counted)] = counted


values.MmapedDict = Counts  # type: ignore[misc]


def _with_space(filename: str) -> str:
    """This file, with all of its space, or another one in memory."""
    try:
        with open(filename, "ab") as file:
            os.posix_fallocate(file.fileno(), 0, max(SIZE, file.tell()))
    except OSError:
        with suppress(OSError):
            os.unlink(filename)  # one without content can't be read
        return _in_memory()
    return filename


def _in_memory() -> str:
    return f"/proc/self/fd/{os.memfd_create('counts')}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one process at a time reads all files, or makes one of two."""
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def folder() -> Path | None:
    """Where processes share what they count; None if this one counts for itself."""
    shared = Path(os.environ.get("PROMETHEUS_MULTIPROC_DIR", ""))
    return shared if shared.name and shared.is_dir() else None


def processes() -> set[int]:
    """The ids of the processes that share what they count: those that have counted, or this one."""
    shared = folder()
    if shared is None:
        return {os.getpid()}
    endings = (file.stem.rpartition("_")[2] for file in shared.glob("*_*.db"))
    return {int(ending) for ending in endings if ending.isdigit()}


def add_up(folder: Path, process: int) -> None:
    """Move what a process that ended has counted to a file of all that ended, so that none leaves files behind."""
    with suppress(OSError), locked(folder):
        for kind in KINDS:
            left = folder / f"{kind}_{process}.db"
            if not left.exists():
                continue
            ended = Counts(str(folder / f"{kind}_ended.db"))
            for key, value, _, _ in Counts.read_all_values_from_file(left):
                ended.write_value(key, ended.read_value(key)[0] + value, 0.0)
            ended.close()
            left.unlink()
    for gauge in folder.glob(f"gauge_live*_{process}.db"):
        gauge.unlink(missing_ok=True)
