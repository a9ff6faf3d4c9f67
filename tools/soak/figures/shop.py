"""A connected store: after the last snapshot both sides agree, and each order was published once."""

from collections import Counter
from collections.abc import Iterator

from tools.soak.figures.finding import Finding, none_of, some_of
from tools.soak.run import Run


def mirrored(run: Run) -> Iterator[Finding]:
    """Nothing in a run that upgrades from a release without connections."""
    if run.shop is None:
        return
    found = run.shop
    yield some_of("rows that a connected store pushed", found.pushed)
    yield some_of("rows that it had not pushed when it was killed", found.killed)
    yield some_of("rows that a snapshot repaired", found.repaired)
    there = dict(found.platform)
    number = Counter(key for key, _ in found.platform)
    yield none_of("rows of a connected store lost", [key for key in found.shop if key not in there])
    yield none_of("rows of a connected store doubled", [key for key, times in number.items() if times > 1])
    wrong = [
        f"{key}: {found.shop.get(key)} there, {row} here"
        for key, row in found.platform
        if found.shop.get(key) != row
    ]
    yield none_of("rows of a connected store left different", wrong, of=len(found.platform))
    yield none_of("rows that a snapshot still names after the repair", found.left)
    orders = [key for key in found.shop if key[0] == "orders"]
    twice = [key for key in orders if found.published[key] != 1]
    yield none_of("orders of a connected store not published once", twice, of=len(orders))


FIGURES = (mirrored,)
