"""A Django without middleware."""

from benchmarks.settings import *  # noqa: F403

MIDDLEWARE: list[str] = []
ROOT_URLCONF = "benchmarks.baselines.bare"
