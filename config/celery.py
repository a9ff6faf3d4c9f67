"""The Celery application, for `manage.py work` and `manage.py schedule`."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging, task_postrun, task_prerun, worker_process_init, worker_ready
from django.db import close_old_connections

from common.observability.garbage import collect_regularly

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("extension_platform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_own_logging(**_: Any) -> None:
    """Leave logging as Django has set it up, with `LOG_LEVEL`, and log what is printed."""
    app.log.redirect_stdouts("WARNING")


@task_prerun.connect
@task_postrun.connect
def check_database_sessions(sender: Any, **_: Any) -> None:
    """Check this thread's database sessions around each task, as Django does around each request.

    Celery itself either opens a new session for every task or, with CELERY_DB_REUSE_MAX, keeps one that the server
    has ended: each later task of that thread would fail.
    """
    if not sender.request.is_eager:
        close_old_connections()


@worker_ready.connect
@worker_process_init.connect
def on_ready(**_: Any) -> None:
    collect_regularly()
