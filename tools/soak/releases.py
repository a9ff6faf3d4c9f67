"""A release in steps under load: one version goes to some stores and is taken back, and the next one goes to all.

`Releases` moves them. Each move is a script in the product's own Python, this module, and may be made once more if a fault ended it.
"""

import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from tools.soak.ledger import FIRST, Move
from tools.soak.seed import RELEASED

if TYPE_CHECKING:
    from tools.soak.load import Load
    from tools.soak.site import Site

TRIES: Final = 5
WATCHED: Final = 12.0  # seconds after a move, at least, in which requests show which version stores run
LONGEST: Final = 180.0  # seconds that the load goes on for moves that faults or a slow machine held up


@dataclass(frozen=True, slots=True)
class Planned:
    """When, as a share of the load's time, and the step that ends."""

    at: float
    action: str
    version: str
    ends: int = 0  # per cent
    percent: int = 100  # of the stores that run the version from then on


PLAN: Final = (
    Planned(0.10, "approve", "2", percent=1),
    Planned(0.22, "advance", "2", ends=1, percent=5),
    Planned(0.34, "advance", "2", ends=5, percent=25),
    Planned(0.48, "back", FIRST),
    Planned(0.58, "approve", "3", percent=1),
    Planned(0.68, "advance", "3", ends=1, percent=5),
    Planned(0.78, "advance", "3", ends=5, percent=25),
    Planned(0.88, "advance", "3", ends=25),
)


class Releases:
    """Moves the releases in a thread. The load has to go on until `finish` returns, so that each move is watched."""

    def __init__(self, site: "Site", load: "Load", receiver: str, seconds: float) -> None:
        self._site, self._load, self._receiver, self._seconds = site, load, receiver, seconds
        self._lock = load.calm_lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until the plan is through."""
        self._thread.join(LONGEST)
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        began = monotonic()
        for planned in PLAN:
            # The first release, before an upgrade, knows none of this.
            while monotonic() < began + planned.at * self._seconds or not self._load.is_current:
                if self._over.wait(0.2):
                    return
            try:
                self._move(planned)
            except Exception as problem:
                self._load.ledger.failed(f"{planned.action} of version {planned.version}: {problem}")
                return
            if self._over.wait(WATCHED):
                return

    def _move(self, planned: Planned) -> None:
        number = len(self._load.world["merchants"])
        with self._lock:
            began = monotonic()
            self._make(planned)
            stores = max(1, round(number * planned.percent / 100))
            move = Move(planned.version, stores, number, began, monotonic(), planned.action == "approve")
            self._load.ledger.moves.append(move)
        print(
            f"  {planned.action} of version {planned.version}: {stores} of {number} stores",
            file=sys.stderr,
            flush=True,
        )

    def _make(self, planned: Planned) -> None:
        for left in reversed(range(TRIES)):
            try:
                self._site.run(
                    str(Path(__file__)), planned.action, planned.version, str(planned.ends), self._receiver
                )
            except RuntimeError:  # such as a crash of the database
                if not left:
                    raise
                sleep(5.0)
            else:
                return


def main(action: str, version: str, ends: str, receiver: str) -> None:
    """Make a move, unless it is made already."""
    import django

    django.setup()
    from django.conf import settings

    settings.DEBUG = True  # here only: the apps' servers have plain http
    from marketplace.enums import ReleaseState
    from marketplace.models import App
    from marketplace.queries import release_of
    from marketplace.services import releases

    app = App.objects.get(slug=f"app-{RELEASED}")
    release = release_of(app)
    assert release
    if action == "approve" and not app.versions.filter(version=f"{version}.0.0").exists():
        _approve(app, version, f"{receiver}/app/{RELEASED}/v{version}")
    elif action == "advance":
        releases.advance(app=app, step=int(ends))
    elif action == "back" and release.state != ReleaseState.TAKEN_BACK:
        releases.take_back(app=app, by=app.developer)


def _approve(app: object, version: str, url: str) -> None:
    """In one transaction, so that no process checks the app's server for the review."""
    from django.db import transaction

    from accounts.models import User
    from extensions.submission import submit_app
    from marketplace.enums import ReleaseMode
    from marketplace.models import App
    from marketplace.services import reviews
    from marketplace.services.apps import update_app

    assert isinstance(app, App)
    reviewer = User.objects.get(email="reviewer@example.com")
    with transaction.atomic():
        changed = update_app(app=app, changes={"webhook_url": url, "version": f"{version}.0.0"})
        submission = submit_app(
            app=changed,
            developer=app.developer,
            how_to_test="Place an order.",
            release=ReleaseMode.STEPS,
        )
        reviews.take(submission=submission, reviewer=reviewer)
        reviews.approve(submission=submission, reviewer=reviewer)


if __name__ == "__main__":
    main(*sys.argv[1:])
