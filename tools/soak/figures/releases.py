"""Releases in steps: which version's server each store's webhooks and hook calls came to."""

from collections.abc import Iterator
from itertools import zip_longest
from math import inf
from typing import Final

from tools.soak.figures.finding import NONE, Finding, none_of, some_of
from tools.soak.ledger import FIRST
from tools.soak.receiver import Arrival, HookCall
from tools.soak.releases import PLAN
from tools.soak.run import Run
from tools.soak.seed import RELEASED

MOVED_WITHIN: Final = 5.0  # seconds after a move, or after a store's first request to another version


def versions(run: Run) -> Iterator[Finding]:
    """A step reaches no more stores than it may, and only adds some. After **Take back** and the last step all run one version."""
    sent: list[Arrival | HookCall] = [*run.receiver.arrivals, *run.receiver.hooks]
    sent = sorted((each for each in sent if each.app == RELEASED), key=lambda each: each.at)
    wrong: list[str] = []
    judged = 0
    first: dict[str, float] = {}  # of each store: when the version that is released came
    moves = run.ledger.moves
    for move, following in zip_longest(moves, moves[1:]):
        first = {} if move.is_first else first
        until = following.began if following else inf
        here = [
            each
            for each in sent
            if move.ended + MOVED_WITHIN <= each.at < until
            if not run.windows.excuse_delivery(each.at, each.at)
        ]
        judged += len(here)
        for each in here:
            if each.version == move.version:
                first.setdefault(each.business, each.at)
            if not _is_right(each, move.version, first.get(each.business), to_all=move.stores == move.of):
                wrong.append(
                    f"{each.business} was sent to version {each.version}, {each.at - move.ended:.1f} s after a move"
                )
        if len(first) > move.stores:
            wrong.append(f"version {move.version} ran in {len(first)} stores instead of {move.stores}")
    yield Finding("moves of releases", f"{len(moves)} of {len(PLAN)}", "" if moves else NONE)
    yield some_of("webhooks and hook calls between them", judged, by_speed=True)
    yield none_of("of these, to another version than the store ran", wrong)


def _is_right(sent: Arrival | HookCall, version: str, since: float | None, *, to_all: bool) -> bool:
    """`since` is when the store's first request came to this version."""
    if sent.version == version:
        return True
    is_back = since is not None and sent.at > since + MOVED_WITHIN
    return sent.version == FIRST and not to_all and not is_back


FIGURES = (versions,)
