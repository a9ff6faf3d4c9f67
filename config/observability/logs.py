"""How everything logs: a line in development, JSON in production, with the id of the request."""

import logging
import sys
import threading
from types import TracebackType
from typing import Any

log = logging.getLogger(__name__)


def log_settings(*, debug: bool, level: str) -> dict[str, Any]:
    """Django's setting `LOGGING`; `level` is that of the root logger."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"format": "%(asctime)s %(levelname)s %(request_id)s %(name)s: %(message)s"},
            "json": {
                "()": "common.observability.logs.JsonFormatter",
                "fmt": "%(levelname)s %(name)s %(message)s %(request_id)s %(trace_id)s",
                "rename_fields": {"levelname": "level", "name": "logger"},
                "timestamp": True,
            },
        },
        "filters": {
            "crashes": {"()": "common.observability.crashes.CrashFilter"},
            "outages": {"()": "common.observability.crashes.OutageFilter"},
            "request_id": {"()": "common.tracing.LogFilter"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "line" if debug else "json",
                "filters": ["request_id", "outages"],
            },
            "crash_mail": {
                "class": "common.observability.crashes.CrashMail",
                "level": "ERROR",
                "filters": ["crashes"],
                "reporter_class": "common.observability.crashes.CrashReport",
            },
        },
        "root": {"handlers": ["console", "crash_mail"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO"},  # Django's own mails would show settings and headers
            "django.request": {"level": "ERROR"},
            "django.server": {"level": "WARNING"},
            # At DEBUG it logs the whole context of a page, with secrets that are shown only once.
            "django.template": {"level": "INFO"},
            "gunicorn.error": {"handlers": ["console"], "level": level, "propagate": False},
            "waitress.queue": {"level": "ERROR"},
            "oauthlib": {"level": "WARNING"},  # at DEBUG it logs authorization codes
            "oauth2_provider": {"level": "WARNING"},
            "celery": {"level": "WARNING"},
            "kombu": {"level": "WARNING"},
        },
    }


def log_crashes_and_warnings() -> None:
    """Python prints them. In a server each line is of the log, which programs read."""
    logging.captureWarnings(True)
    sys.excepthook = _log_crash
    threading.excepthook = lambda crash: _log_crash(crash.exc_type, crash.exc_value, crash.exc_traceback)


def _log_crash(
    kind: type[BaseException], error: BaseException | None, traceback: TracebackType | None
) -> None:
    if error is not None and not issubclass(kind, (SystemExit, KeyboardInterrupt)):
        log.critical("%s crashed.", threading.current_thread().name, exc_info=(kind, error, traceback))
