"""The product's settings without the log of calls, as a baseline for what it costs."""

from benchmarks.settings import *  # noqa: F403

LOG_API_CALLS = False
