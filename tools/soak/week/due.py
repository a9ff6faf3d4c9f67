"""What a week must bring, apart from erasures: each thing is begun by those who use the installation, and has to be seen later, not before
its time.

Run as a script, in the product's own Python, it changes the key of the connected shop.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

import requests

from tools.soak.seed import PAYING, RELEASED
from tools.soak.week.clock import Clock

if TYPE_CHECKING:
    from tools.soak.ledger import Placed
    from tools.soak.load import Load
    from tools.soak.site import Site

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
TRIED: Final = 4  # the number of an app without webhooks
GUEST: Final = "invited@example.net"
PATIENCE: Final = 60.0  # seconds
NEVER_CHECKED: Final = (
    "SELECT count(*) FILTER (WHERE checked_at IS NULL), count(*) FROM conformance_weeklycheck"
)
COPIES: Final = "SELECT count(*) FROM installations_trial WHERE ended_at IS NULL AND copy_id IS NOT NULL"
OPEN_TRIALS: Final = "SELECT count(*) FROM installations_trial WHERE ended_at IS NULL"
OLD_KEYS: Final = "SELECT count(*) FROM common_keptanswer WHERE expires_at < now() - interval '13 hours'"


@dataclass
class Due:
    """`is_there` tells whether it has happened. That must not be before `takes` seconds have passed by the rows."""

    name: str
    is_there: Callable[[], bool]
    takes: float = 0.0
    since: float = 0.0  # of `time.monotonic`, as `seen`
    seen: float | None = None
    is_early: bool = False

    def look(self, clock: Clock) -> None:
        if self.seen is None and self.is_there():
            self.seen = monotonic()
            self.is_early = self.seen < clock.later(self.since, self.takes)


@dataclass
class Passed:
    """What is known of the week when it is over."""

    dues: list[Due]
    dropped: dict[str, list[str]]  # of each split table: partitions of before the run that are gone
    overdue: list[str]  # partitions that should be gone
    missing: list[str]  # partitions ahead that were not made again
    has_new_key: bool


class Begun:
    """Everything that is begun on the first day, and after it `change_shop_key`."""

    def __init__(self, site: "Site", load: "Load", clock: Clock) -> None:
        self._site, self._load, self._clock = site, load, clock
        self._merchant = load.people.aside
        self._session = requests.Session()

    def all(self) -> Iterator[Due]:
        yield Due("each listed app has had its weekly check", self._are_checked)
        yield Due("idempotency keys of the first day are removed", self._keys_are_gone)
        for begin in (self._payment, self._export, self._code, self._invitation, self._trial):
            since = monotonic()
            due = begin()
            due.since = since
            yield due

    def _count(self, statement: str) -> tuple[int, ...]:
        with self._site.postgres.connect("soak") as session:
            return session.execute(statement).fetchone() or ()

    def _are_checked(self) -> bool:
        missing, planned = self._count(NEVER_CHECKED)
        return planned > 0 and not missing

    def _keys_are_gone(self) -> bool:
        """None is there half a day after its end."""
        return self._clock.passed > 2 * DAY and self._count(OLD_KEYS) == (0,)

    # By apps

    def _payment(self) -> Due:
        ledger, apps = self._load.ledger, self._load.apps
        placed: list[Placed] = []

        def is_placed() -> bool:
            payer = next((each for each in ledger.active() if each.app == PAYING), None)
            order = apps.leave_unpaid(self._session, payer) if payer else None
            placed.extend([order] if order else [])
            return bool(placed)

        _wait(is_placed)
        order = placed[0]
        reader = ledger.installed(RELEASED, order.business)
        assert reader

        def is_there() -> bool:
            answer = apps.as_(reader, self._session, "GET", f"/app-api/orders/{order.id}")
            return bool(answer.json()["payment"]["status"] == "EXPIRED")

        return Due("a payment that an app left open has expired", is_there, DAY - HOUR)

    def _export(self) -> Due:
        reader = next(each for each in self._load.ledger.active() if each.app == RELEASED)
        call, session = self._load.apps.as_, self._session
        answer = call(reader, session, "POST", "/app-api/exports", json={"resource": "products"})
        path = f"/app-api/exports/{answer.json()['id']}"
        _wait(lambda: call(reader, session, "GET", path).json()["status"] == "READY")

        def is_there() -> bool:
            return call(reader, session, "GET", f"{path}/file").status_code == 404

        return Due("an export has expired", is_there, DAY)

    def _code(self) -> Due:
        app = self._load.world["apps"][RELEASED]
        code = self._merchant.consent(app)

        def is_there() -> bool:
            answer = self._load.call(
                self._session,
                "POST",
                "/oauth/token",
                auth=(app["client_id"], app["client_secret"]),
                data={"grant_type": "authorization_code", "code": code, "redirect_uri": app["redirect"]},
            )
            return answer.status_code == 400

        return Due("an authorization code has expired", is_there)

    def change_shop_key(self) -> Due:
        """The shop has a new one, and the old one works for another day."""
        old = self._load.world["shop"]["key"]
        self._load.world["shop"]["key"] = self._site.run(str(Path(__file__))).split()[-1]

        def is_there() -> bool:
            headers = {"Authorization": f"Bearer {old}"}
            body = {"resource": "orders", "rows": []}
            path = "/store-api/stores/main/snapshot"
            return self._load.call(self._session, "POST", path, json=body, headers=headers).status_code == 401

        due = Due("the key of a shop that was changed no longer works", is_there, DAY, monotonic())
        due.look(Clock())
        return due

    # By a merchant

    def _invitation(self) -> Due:
        self._send("/merchant/staff/", {"email": GUEST, "role": "ORDERS"})
        _wait(lambda: bool(self._link()))
        path = self._link()
        assert self._load.call(requests.Session(), "GET", path).status_code == 200

        def is_there() -> bool:
            return self._load.call(requests.Session(), "GET", path).status_code == 404

        return Due("an invitation has expired", is_there, 7 * DAY)

    def _link(self) -> str:
        for file in self._site.mails.iterdir():
            text = file.read_text().replace("=\n", "")
            if f"To: {GUEST}" in text and "/merchant/invitations/" in text:
                return "/merchant/invitations/" + text.partition("/merchant/invitations/")[2].split()[0]
        return ""

    def _trial(self) -> Due:
        page = f"/marketplace/app-{TRIED}/"
        self._send(page, {}, f"{page}try/")
        _wait(lambda: self._count(COPIES) == (1,))
        return Due("a trial of an app has ended", lambda: self._count(OPEN_TRIALS) == (0,), DAY)

    def _send(self, path: str, fields: dict[str, str], to: str = "") -> None:
        page = self._merchant.open(path)
        answer = self._merchant.press(to or path, page, fields)
        assert answer.status_code == 302, (
            f"{to or path} was answered {answer.status_code}: {answer.text[:300]}"
        )


def _wait(condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not condition():
        if monotonic() > end:
            raise TimeoutError
        sleep(0.5)


def main() -> None:
    import django

    django.setup()
    from accounts.models import ShopSystem
    from accounts.services import shops

    print(shops.new_key(system=ShopSystem.objects.get(name="Soak")))


if __name__ == "__main__":
    main()
