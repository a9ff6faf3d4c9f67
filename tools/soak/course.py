"""One run from its beginning to its end."""

import random
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import sleep

from tools.servers import RabbitMQ
from tools.soak.faults import Faults
from tools.soak.load import Load
from tools.soak.memory import Memory
from tools.soak.receiver import Receiver
from tools.soak.releases import Releases
from tools.soak.run import Run, wait_until_settled
from tools.soak.site import ROOT, Site
from tools.soak.week.clock import WEEK
from tools.soak.week.leaps import Week

APPS, MERCHANTS = 4, 6
AWAY_FOR = 6  # leaps: two days, and the one that comes next
SETTLES_WITHIN = 300.0  # seconds, for retries; on a quiet machine one minute is enough
LOGGED_WITHIN = 2.0  # seconds, for the log of calls


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run has. `release` is the tree to upgrade from, `tree` the one that is tried."""

    seconds: float
    seed: int
    release: Path | None = None
    tree: Path = ROOT
    has_faults: bool = True
    restore: bool = True
    rabbitmq: RabbitMQ | None = None
    settles_within: float = SETTLES_WITHIN
    is_week: bool = False


def run(plan: Plan, folder: Path, stack: ExitStack) -> Run:
    """All that is known in the end. The servers live as long as `stack`."""
    # One for each, since their threads would take numbers from a shared one in another order each time.
    first = random.Random(plan.seed)
    for_receiver, for_load, for_faults = (random.Random(first.random()) for _ in range(3))
    receiver = stack.enter_context(Receiver(for_receiver))
    leap_every = plan.seconds / WEEK if plan.is_week else 0.0
    site = stack.enter_context(
        Site(folder, plan.release or plan.tree, rabbitmq=plan.rabbitmq, leap_every=leap_every)
    )
    load = Load(site.url, site.seed(receiver.url, apps=APPS, merchants=MERCHANTS), for_load)
    to = plan.tree if plan.release else None
    restore = plan.restore and plan.has_faults
    faults = Faults(site, receiver, load, for_faults, to=to, restore=restore)
    load.people.install_all()
    receiver.forget()
    receiver.stores = {merchant["business"] for merchant in load.world["merchants"]}
    load.away_for = leap_every * AWAY_FOR or load.away_for
    load.start()
    memory = Memory(site)
    releases = Releases(site, load, receiver.url, plan.seconds)
    week = Week(site, load, receiver, faults, plan.seconds) if plan.is_week else None
    if plan.has_faults:
        faults.run(plan.seconds)
    else:
        sleep(plan.seconds)
    releases.finish()
    if week:
        week.finish()
    load.stop()
    memory.stop()
    receiver.is_kind = True
    if plan.has_faults:
        faults.last()
    if week:
        week.last()
    wait_until_settled(site, plan.settles_within)
    load.read_on()
    sleep(LOGGED_WITHIN)
    return Run.gather(site, load, receiver, faults, memory, week)
