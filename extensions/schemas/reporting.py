"""How many problems are told, and the words of those that have no keyword."""

from typing import Final

from common.errors import ErrorDetail

MAX_PROBLEMS: Final = 100
TOO_MUCH: Final = "Takes too much work to check. Make the schema simpler."


def one_per_place(problems: list[ErrorDetail]) -> list[ErrorDetail]:
    """The first problem of each place, at most 100."""
    found: dict[str, ErrorDetail] = {}
    for problem in problems:
        found.setdefault(problem["field"], problem)
    return list(found.values())[:MAX_PROBLEMS]
