"""The settings of every process of a soak: those of a server, on one machine. Also for the release before this one."""

from config.settings import *  # noqa: F403
from config.settings import SILENCED_SYSTEM_CHECKS

# Not `DEBUG`, which would keep a log of every statement.
ALLOW_LOCAL_DESTINATIONS = True
SILENCED_SYSTEM_CHECKS = [*SILENCED_SYSTEM_CHECKS, "config.E001", "config.W001"]
AUTH_RATE_LIMITS = False  # everybody comes from one address
