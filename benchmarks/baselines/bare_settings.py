"""A Django without middleware."""

from benchmarks.settings import *  # noqa: F403


class Empty(list[str]):
    """No middleware, not even allauth's, which allauth looks for when it starts."""

    def __contains__(self, name: object) -> bool:
        return True


MIDDLEWARE = Empty()
ROOT_URLCONF = "benchmarks.baselines.bare"
