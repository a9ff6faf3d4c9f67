"""The base of `serve`, `work` and `schedule`: each line that they print is of the log."""

import logging
from typing import Any

from django.core.checks import run_checks
from django.core.management.base import BaseCommand

from config.observability.logs import log_crashes_and_warnings

log = logging.getLogger(__name__)


class ServerCommand(BaseCommand):
    def execute(self, *args: Any, **options: Any) -> str | None:
        log_crashes_and_warnings()
        return super().execute(*args, **options)

    def get_check_kwargs(self, options: Any) -> dict[str | None, Any]:
        return super().get_check_kwargs(options) | {"databases": ["default"]}

    def check(self, **options: Any) -> None:  # type: ignore[override]
        """Log warnings. Errors refuse the start, and are printed."""
        issues = run_checks(**options)
        if any(issue.is_serious() and not issue.is_silenced() for issue in issues):
            super().check(**options)
        for issue in issues:
            if not issue.is_silenced():
                log.log(issue.level, "%s", issue)
