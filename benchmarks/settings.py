"""The product's settings, as a server has them, but for what keeps a benchmark apart and on this machine."""

import os

from config.settings import *  # noqa: F403
from config.settings import CACHES, DATABASES, SILENCED_SYSTEM_CHECKS

# Not `DEBUG`, which would keep a log of every statement.
ALLOW_LOCAL_DESTINATIONS = True
SILENCED_SYSTEM_CHECKS = [*SILENCED_SYSTEM_CHECKS, "config.E001", "config.W001"]

# All requests come from one address.
AUTH_RATE_LIMITS = False

# Another dispatcher on the same Redis must neither take our places nor get our hints.
CACHES["default"]["KEY_PREFIX"] = CELERY_TASK_DEFAULT_QUEUE = os.environ["BENCHMARK_NAME"]

# By which a process finds its sessions in PostgreSQL, and what they cost.
DATABASES["default"]["OPTIONS"].pop("application_name", None)  # so that `PGAPPNAME` counts
