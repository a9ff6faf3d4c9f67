"""The settings of every process of a soak: those of a server, on one machine. Also for the release before this one."""

import os

from config.settings import *  # noqa: F403
from config.settings import CELERY_BEAT_SCHEDULE, SILENCED_SYSTEM_CHECKS

# Not `DEBUG`, which would keep a log of every statement.
ALLOW_LOCAL_DESTINATIONS = True
SILENCED_SYSTEM_CHECKS = [*SILENCED_SYSTEM_CHECKS, "config.E001", "config.W001"]
AUTH_RATE_LIMITS = False  # everybody comes from one address

if leap_every := float(os.environ.get("LEAP_EVERY", "0")):  # seconds in which half a day passes for the rows
    CELERY_BEAT_SCHEDULE = {
        name: entry
        | {
            "schedule": min(entry["schedule"], leap_every)
            if isinstance(entry["schedule"], float)
            else leap_every
        }
        for name, entry in CELERY_BEAT_SCHEDULE.items()
    }
