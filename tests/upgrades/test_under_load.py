"""The newest recorded release is upgraded with full tables and load on, as docs/upgrading.md describes it."""

import random
from pathlib import Path
from pprint import pformat
from time import sleep

import pytest
from psycopg.sql import SQL, Composable, Identifier

from tests.faults.servers import skipped_if_missing
from tests.webhooks.helpers import wait_until
from tools.released_tree import check_out
from tools.soak.course import LOGGED_WITHIN
from tools.soak.faults import Fault, Faults
from tools.soak.figures import ALL
from tools.soak.figures.finding import NONE
from tools.soak.load import Load
from tools.soak.memory import Memory
from tools.soak.receiver import Receiver
from tools.soak.run import Run, wait_until_settled
from tools.soak.site import ROOT, Site

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(1200)]

# Copies of one row, in the tables that grow. Orders of the load have other names.
FULL = {
    "stores_product": (100_000, {"id": "gen_random_uuid()", "slug": "'copy-' || copy"}),
    "stores_order": (
        200_000,
        {"id": "gen_random_uuid()", "number": "'C-' || copy", "customer_name": "'Lee ' || copy"},
    ),
    "webhooks_attempt": (300_000, {"delivery_id": "gen_random_uuid()"}),
}


def fill(site: Site) -> None:
    with site.postgres.connect("soak") as session:
        for table, (rows, changed) in FULL.items():
            columns = [
                name
                for (name,) in session.execute(
                    "SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table]
                )
            ]
            values: list[Composable] = [
                SQL(changed[name]) if name in changed else SQL("template.{}").format(Identifier(name))  # type: ignore[arg-type]
                for name in columns
            ]
            session.execute(
                SQL(
                    "INSERT INTO {table} ({columns}) SELECT {values} FROM (SELECT * FROM {table} LIMIT 1) template,"
                    " generate_series(1, {rows}) copy"
                ).format(
                    table=Identifier(table),
                    columns=SQL(", ").join(map(Identifier, columns)),
                    values=SQL(", ").join(values),
                    rows=rows,
                )
            )
            session.execute(SQL("ANALYZE {}").format(Identifier(table)))


def test_release_is_upgraded_under_load_without_a_failed_request_or_a_long_lock(tmp_path: Path) -> None:
    for folder in ("release", "site"):
        (tmp_path / folder).mkdir()
    release = check_out(tmp_path / "release")
    if release is None:
        pytest.skip("needs the whole history, for the release to upgrade from")
    chance = random.Random(1)
    with skipped_if_missing():
        site = Site(tmp_path / "site", release)
    with Receiver(chance) as receiver, site:
        world = site.seed(receiver.url, apps=2, merchants=3)
        load = Load(site.url, world, chance)
        memory = Memory(site)
        faults = Faults(site, receiver, load, chance, to=ROOT, restore=False)
        load.people.install_all()
        receiver.forget()
        load.start()
        try:
            _wait_for_rows(site)
            fill(site)
            faults.cause(Fault("upgrade", faults.upgrade))
        finally:
            load.stop()
            memory.stop()
        receiver.is_kind = True
        wait_until_settled(site, within=300)
        load.read_on()
        sleep(LOGGED_WITHIN)
        run = Run.gather(site, load, receiver, faults, memory)
        found = {each.name: each for figure in ALL for each in figure(run)}
    wrong = {name: finding.problem for name, finding in found.items() if finding.problem not in ("", NONE)}
    assert wrong == {}, pformat(wrong)  # a soak has some of everything
    assert faults.migrated_in


def _wait_for_rows(site: Site) -> None:
    """Until there is one to copy in each table."""

    def all_have() -> bool:
        with site.postgres.connect("soak") as session:
            return all(
                session.execute(SQL("SELECT 1 FROM {} LIMIT 1").format(Identifier(table))).fetchone()
                for table in FULL
            )

    wait_until(all_have, timeout=60)
