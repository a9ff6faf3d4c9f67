"""`manage.py demo`: web, worker, scheduler and the sample app, with demo data, on one command."""

import os
import signal
import socket
from argparse import ArgumentParser
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone
from waitress.server import create_server

from config.demo.background import Background
from config.demo.order_bell import connect_sample_app
from config.demo.people import DEVELOPER, MERCHANT, PASSWORD, REVIEWER, merchants_shop, seed
from config.demo.sample_app import SampleApp
from config.wsgi import application
from stores.records import storefront_url
from webhooks import claims

HOST = "127.0.0.1"

BANNER = """
  Extension Platform runs on {base_url}

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
            "--sample-app-port", type=int, default=int(os.environ.get("SAMPLE_APP_PORT", settings.PORT + 1))
        )

    def handle(self, *args: Any, sample_app_port: int, **options: Any) -> None:
        # A job that a script puts into the background starts with Ctrl-C ignored; both signals mean stop.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, _stop)
        for port in (settings.PORT, sample_app_port):
            _check_free(port)
        call_command("migrate", verbosity=0)
        # What a former demo held when it was killed is nobody's: this process is the only dispatcher.
        claims.free_expired(timezone.now() + claims.LEASE)
        seed()
        sample_app = SampleApp(
            port=sample_app_port, state_file=settings.VAR_DIR / "sample-app" / "state.json"
        )
        credentials = None
        if settings.DEBUG:  # else an app's addresses have to be HTTPS, and this one's are not
            credentials = connect_sample_app(state_file=sample_app.state_file, url=sample_app.url)
        connection.close()
        server = create_server(
            application, host=HOST, port=settings.PORT, threads=8, clear_untrusted_proxy_headers=True
        )
        background = Background()
        background.start()
        about_app = "not started: it needs DEBUG=1"
        if credentials:
            sample_app.start(credentials)
            about_app = f"{sample_app.url}/          in that store; shows each webhook it receives"
        self.stdout.write(self._banner(about_app))
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
            base_url=settings.BASE_URL,
            store=storefront_url(merchants_shop()),
            developer=DEVELOPER,
            merchant=MERCHANT,
            reviewer=REVIEWER,
            password=PASSWORD,
            sample_app=about_app,
            var_dir=settings.VAR_DIR,
        )


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise CommandError(
                f"Port {port} is in use. Choose another one: PORT=8100 make demo (the sample app takes the next)."
            ) from error
