"""The JSON lines of the log."""

import linecache
from typing import Any

from pythonjsonlogger.orjson import OrjsonFormatter


class JsonFormatter(OrjsonFormatter):
    """Forgets the source of each file that a traceback has shown, which Python would keep: a megabyte after some faults."""

    def formatException(self, ei: Any) -> Any:  # noqa: N802  # the name is logging's
        try:
            return super().formatException(ei)
        finally:
            linecache.clearcache()
