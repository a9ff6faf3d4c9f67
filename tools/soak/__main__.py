"""`python -m tools.soak --minutes 20`: see docs/faults.md. Exits with 1 if anything was lost, doubled or failed."""

import argparse
import os
import random
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from tools.released_tree import check_out
from tools.servers import Missing, RabbitMQ
from tools.soak import course, unprotected
from tools.soak.faults import ONCE, shortest
from tools.soak.figures import ALL, Finding

BROKERS = ("redis", "rabbitmq")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak", description=sys.modules["tools.soak"].__doc__
    )
    parser.add_argument("--minutes", type=float, default=20.0, help="how long the load lasts (20)")
    parser.add_argument("--seed", type=int, default=None, help="repeat the faults of an earlier run")
    parser.add_argument("--keep", type=Path, default=None, help="a folder for the logs, which is kept")
    parser.add_argument("--broker", choices=BROKERS, default=None, help="one of them in any case")
    parser.add_argument(
        "--week", action="store_true", help="let a week pass for the rows meanwhile, in leaps of 12 hours"
    )
    parser.add_argument(
        "--slow-machine", action="store_true", help="only print what may come of a slow or shared machine"
    )
    parser.add_argument(
        "--unprotected",
        action="store_true",
        help="have defects instead of faults; each figure has to find its own",
    )
    parser.add_argument("--only", default=None, help="one group of defects, with --unprotected")
    for name in ONCE:
        parser.add_argument(f"--without-{name}", action="store_true", help=f"leave out the {name}")
    chosen = parser.parse_args(arguments)
    for name in ONCE:
        if chosen.minutes < shortest(name) and not vars(chosen)[f"without_{name}"]:
            parser.error(
                f"{chosen.minutes:g} minutes are too short for the {name}: choose --minutes {shortest(name):g} or more, or"
                f" --without-{name}"
            )
    signal.signal(signal.SIGTERM, _end)
    seed = random.SystemRandom().randrange(10_000) if chosen.seed is None else chosen.seed
    try:
        if chosen.unprotected:
            return unprotected.prove(seed, chosen.keep, chosen.only)
        print(f"{chosen.minutes:g} minutes with --seed {seed}", file=sys.stderr, flush=True)
        return _soak(chosen, seed)
    except Missing as missing:
        sys.exit(f"A soak needs PostgreSQL's programs, redis-server and nginx. {missing}.")


def _end(*_: object) -> None:
    """Exit, so that every server that was started is ended. Another signal must not interrupt that."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit("Stopped.")


def _soak(chosen: argparse.Namespace, seed: int) -> int:
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        folder.mkdir(parents=True, exist_ok=True)
        release = None
        if not chosen.without_upgrade:
            (folder / "release").mkdir()
            release = check_out(folder / "release")
            if release is None:
                sys.exit(
                    "There is no release to upgrade from, since the history is not whole. Fetch it"
                    " (`git fetch --unshallow`), or run the soak with --without-upgrade."
                )
        plan = course.Plan(
            seconds=chosen.minutes * 60,
            seed=seed,
            release=release,
            restore=not chosen.without_restore,
            is_week=chosen.week,
            rabbitmq=_rabbitmq(chosen.broker or BROKERS[seed % 2]),
        )
        run = course.run(plan, folder, stack)
        return judge((found for figure in ALL for found in figure(run)), is_slow=chosen.slow_machine)


def _rabbitmq(broker: str) -> RabbitMQ | None:
    """The broker of runs whose seed is odd. None for Redis."""
    if broker == "redis":
        return None
    try:
        return RabbitMQ(f"soak{os.getpid()}")
    except Missing as missing:
        print(f"The broker is Redis, although it should be RabbitMQ: {missing}.", flush=True)
        return None


def judge(found: Iterable[Finding], *, is_slow: bool) -> int:
    """Print the figures. The status to exit with; what may come of a slow machine doesn't count there."""
    wrong = slow = 0
    for finding in found:
        print(f"{finding.name}: {finding.value}", flush=True)
        if not finding.problem:
            continue
        if is_slow and finding.by_speed:
            slow += 1
            print(f"  MAYBE A SLOW MACHINE: {finding.problem}", flush=True)
        else:
            wrong += 1
            print(f"  WRONG: {finding.problem}", flush=True)
    print(f"{wrong} figures are wrong." if wrong else "Nothing is wrong.")
    if slow:
        print(f"{slow} figures are off, maybe because the machine is slow.")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
