"""Records a release's database for `tests/upgrades/`: `python -m tools.record_release v0.1.0`.

Makes a database on the server of `DATABASE_URL` (PostgreSQL), migrates it, fills it by the demo's services, and writes it to
`tests/upgrades/releases/<name>.sql`, and its migrations to the list beside it, so that they never change. Its wire contract
goes to `docs/contract/`. Needs `pg_dump`. Run it on the commit that gets the tag.
"""

import base64
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import django
import psycopg
from psycopg.sql import SQL, Identifier

from tools import contract_changes, released_migrations

ROOT = Path(__file__).resolve().parent.parent
RELEASES = ROOT / "tests" / "upgrades" / "releases"
SERVER = "postgres://postgres@127.0.0.1:5432/"

# Published, so that every later test can read the recorded secrets.
ENCRYPTION_KEY = base64.urlsafe_b64encode(b"of recorded releases".ljust(32, b".")).decode()


def main(name: str) -> None:
    with scratch_database() as url, tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": url,
            "FIELD_ENCRYPTION_KEYS": ENCRYPTION_KEY,
            "VAR_DIR": folder,
            "DEBUG": "1",
            "ALLOW_LOCAL_DESTINATIONS": "1",
            "CELERY_BROKER_URL": "memory://localhost",
            "REDIS_URL": "",
        }
        django.setup()
        fill()
        file = RELEASES / f"{name}.sql"
        file.write_text(dump(url))
        contract_changes.record(name)
    released_migrations.record()
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")


@contextmanager
def scratch_database() -> Iterator[str]:
    """The URL of a new, empty database beside the one of `DATABASE_URL`."""
    server = urlsplit(os.environ.get("DATABASE_URL") or SERVER)
    name = f"release_{uuid4().hex}"
    with psycopg.connect(urlunsplit(server._replace(path="/postgres")), autocommit=True) as admin:
        admin.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        try:
            yield urlunsplit(server._replace(path=f"/{name}"))
        finally:
            admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def fill() -> None:
    """The demo's people, stores and sample app; an order with deliveries that failed; an uninstall with its erasure."""
    from django.core.management import call_command

    from accounts.models import User
    from config.demo.order_bell import connect_sample_app
    from config.demo.people import DEVELOPER, merchants_shop, seed
    from installations.services import test_uninstall
    from marketplace.models import App
    from stores.models import Product
    from stores.services.checkout import place_order
    from stores.services.pricing import OrderLine, OrderRequest

    call_command("migrate", verbosity=0)
    seed()
    connect_sample_app(state_file=Path("missing"), url="http://127.0.0.1:9")  # no app answers there
    product = Product.objects.filter(business=merchants_shop(), stock=None).earliest("id")
    place_order(
        business=merchants_shop(),
        request=OrderRequest(
            items=[OrderLine(product.id, 1)],
            customer_name="Kim",
            customer_email="kim@example.com",
            delivery_method="PICKUP",
            payment_method="CASH",
        ),
    )
    call_command("deliver")
    test_uninstall(app=App.objects.get(), developer=User.objects.get(email=DEVELOPER))


def dump(url: str) -> str:
    """As INSERT statements, which any client can execute, without the commands that only `psql` knows."""
    command = ["pg_dump", "--inserts", "--rows-per-insert=100", "--no-owner", "--no-privileges", url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return re.sub(r"(?m)^\\(?:un)?restrict .*\n", "", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
