"""`manage.py demo`: web, worker, scheduler and the sample app, with demo data, on one command."""

import fcntl
import os
import signal
import socket
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone

from config.demo.history import lead_to_no_server, order_times, write_history
from config.demo.order_bell import Credentials, connect_sample_app
from config.demo.people import DEVELOPER, MERCHANT, PASSWORD, REVIEWER, merchants_shop, seed
from config.demo.processes import Background, SampleApp, web_server
from config.env.reading import LAST_PORT, port
from config.wsgi import make_documentation
from stores.addresses import store_url

IPV4, IPV6 = "127.0.0.1", "::1"  # "localhost" may mean either
AFTER_FIRST_PAGES = 10.0  # seconds; the documentation is made once the first pages have been shown

_OF_ITS_OWN = "A second demo needs ports and data of its own: PORT=8100 VAR_DIR=/tmp/demo-8100 make demo (the sample app takes the next port)."

BANNER = """
  {platform} runs on {base_url}, its stores on {stores_url}

    Store              {store}   the merchant's
    Marketplace        {base_url}/marketplace/
    Merchant           {base_url}/merchant/   {merchant}
    Developer portal   {base_url}/portal/     {developer}
    Reviewer           {base_url}/admin/      {reviewer}
                       password for each: {password}

    Sample app         {sample_app}

  Data in {var_dir}. Ctrl-C stops all of it.
"""


class Command(BaseCommand):
    help = "Runs the whole product on its embedded parts, with demo data."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--sample-app-port",
            type=int,
            choices=range(1, LAST_PORT + 1),
            metavar="PORT",
            help="(default: SAMPLE_APP_PORT)",
        )
        parser.add_argument(
            "--shop",
            metavar="ORIGIN",
            default="",
            help="origin of a connected shop, whose pages may frame the sample app",
        )

    def handle(self, *args: Any, sample_app_port: int | None, shop: str, **options: Any) -> None:
        _refuse_production()
        with _sole_use(settings.VAR_DIR):
            self._run(sample_app_port or _sample_app_port(), shop)

    def _run(self, sample_app_port: int, shop: str) -> None:
        # A job that a script puts into the background starts with Ctrl-C ignored; both signals mean stop.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, _stop)
        hosts = [host for host in (IPV4, IPV6) if _can_bind(host, port=0)]
        _check_free([(host, settings.PORT) for host in hosts] + [(IPV4, sample_app_port)])
        call_command("migrate", verbosity=0)
        sample_app = SampleApp(
            port=sample_app_port, state_file=settings.VAR_DIR / "sample-app" / "state.sqlite3", shop=shop
        )
        credentials = begin(state_file=sample_app.state_file, url=sample_app.url)
        connection.close()
        server = web_server(" ".join(f"{host}:{settings.PORT}" for host in hosts).replace("::1:", "[::1]:"))
        background = Background()
        background.start()
        about_app = "not started: it needs DEBUG=1"
        if credentials:
            sample_app.start(credentials)
            about_app = f"{sample_app.url}/          in that store; shows its webhooks in the dashboard, under Order Bell"
        self.stdout.write(self._banner(about_app))
        self.stdout.flush()  # it may be a file or a pipe, which would show it much later
        make_documentation(after=AFTER_FIRST_PAGES)
        try:
            server.run()
        except (KeyboardInterrupt, SystemExit):
            pass
        finally:
            self.stdout.write("Stopping.")
            sample_app.stop()
            server.close()
            background.stop()

    def _banner(self, about_app: str) -> str:
        return BANNER.format(
            platform=settings.PLATFORM_NAME,
            base_url=settings.BASE_URL,
            stores_url=settings.STORES_URL,
            store=store_url(merchants_shop().slug),
            developer=DEVELOPER,
            merchant=MERCHANT,
            reviewer=REVIEWER,
            password=PASSWORD,
            sample_app=about_app,
            var_dir=settings.VAR_DIR,
        )


def _sample_app_port() -> int:
    if settings.PORT == LAST_PORT and not os.environ.get("SAMPLE_APP_PORT"):
        raise CommandError(
            f"The sample app takes the next port, and {LAST_PORT} is the last one. Choose another PORT, or set SAMPLE_APP_PORT."
        )
    return port("SAMPLE_APP_PORT", settings.PORT + 1)


def _refuse_production() -> None:
    """Everyone knows the demo's passwords, and one of them is a reviewer's: they may not get into a real database."""
    database = settings.DATABASES["default"]
    own = settings.VAR_DIR in Path(database["NAME"] or "").resolve().parents
    if not (settings.DEBUG or (database["ENGINE"].endswith("sqlite3") and own)):
        raise CommandError(
            "The demo creates people whose passwords are published, so it runs only with DEBUG=1 or on a database file "
            f"below VAR_DIR ({settings.VAR_DIR}). Set DATABASE_URL to such a file."
        )


@contextmanager
def _sole_use(folder: Path) -> Iterator[None]:
    """Keep other demos out of the data: each has the sample app's addresses of its own. The lock ends with the process,
    however that ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "demo.lock").open("a")
    except OSError as error:
        raise CommandError(
            f"VAR_DIR must be a folder that you may write. {folder}: {error.strerror}."
        ) from None
    with file as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(f"Another demo is running on the data in {folder}. {_OF_ITS_OWN}") from None
        yield


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _check_free(addresses: list[tuple[str, int]]) -> None:
    for address in addresses:
        if not _can_bind(*address):
            raise CommandError(f"Port {address[1]} is in use. {_OF_ITS_OWN}")


def _can_bind(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


# --- What is there at the start ----------------------------------------------------------------------


def begin(*, state_file: Path, url: str, now: datetime | None = None) -> Credentials | None:
    """Write it, and give what the sample app at `url` starts with; None without DEBUG, where its address would have to be HTTPS."""
    now = now or timezone.now()
    has_history = settings.DEMO_HISTORY and settings.DEBUG  # it belongs to the sample app
    is_new = seed(busy=order_times(now) if has_history else ())
    credentials = connect_sample_app(state_file=state_file, url=url) if settings.DEBUG else None
    if has_history and is_new:
        write_history(now=now)
    settings.FOOTER_NOTE = lead_to_no_server()
    return credentials
