"""`manage.py serve`: a web server for production."""

import os
import sys
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import ManifestFilesMixin, staticfiles_storage
from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError

from common.db.schema import require_migrations
from config.management.servers import ServerCommand
from installations.signing_keys import session_keys
from webhooks.management.startup import require_keys

COMMAND = (sys.executable, "-m", "gunicorn", "--config", "python:config.gunicorn", "config.wsgi")


class Command(ServerCommand):
    help = (
        "Serves pages and APIs by gunicorn at BIND, with WEB_PROCESSES of WEB_THREADS each. SIGTERM finishes requests in "
        "progress, SIGHUP replaces the processes."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if isinstance(staticfiles_storage, ManifestFilesMixin) and not staticfiles_storage.hashed_files:
            raise CommandError(
                f"There are no collected static files in {settings.STATIC_ROOT}. Run `manage.py collectstatic` first."
            )
        require_migrations()
        require_keys()
        with suppress(InterfaceError, OperationalError):
            session_keys()  # made at the first start
        # gunicorn would take its folder from this, and follow a link in it to the next release.
        os.environ.pop("PWD", None)
        os.execv(COMMAND[0], COMMAND)  # noqa: S606  gunicorn takes over this process, and with it the signals
