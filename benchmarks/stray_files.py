"""How much memory the search for stray pictures takes, by the number of files."""

import os
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from django.core.files.storage import default_storage
from django.utils import timezone

from benchmarks.options import Options
from benchmarks.processes import Failed
from benchmarks.results import Goal, Row
from common.ids import id_at
from stores.services.catalogue.pictures import FOLDER, IN_NAME, remove_stray_files

FEW: Final = 2_000
MANY: Final = 20_000
OVER: Final = timedelta(days=30)


def stray_files(options: Options) -> Iterator[Row]:
    """All are old and stray, so that all are looked up and deleted."""
    few, many = (_peak(count) for count in (FEW, MANY))
    yield Row(
        f"Memory of the search for stray pictures among {MANY:,} files, to {FEW:,}",
        f"{few / 1e3:,.0f} kB",
        f"{many / 1e3:,.0f} kB",
        many / few,
        Goal(1.5, 1.1),
    )


def _peak(count: int) -> int:
    """Bytes at the most."""
    now = timezone.now()
    for number in range(count):
        id_ = str(id_at(now - OVER * (number / count) - timedelta(days=2)))
        path = Path(default_storage.path(f"{FOLDER}{id_[:IN_NAME]}/{id_}-{number}.png"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (0, 0))
    tracemalloc.start()
    try:
        if (removed := remove_stray_files()) != count:
            raise Failed(f"{removed} of {count} stray files were removed")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
