"""``install``: put the app on the sandbox store, and its credentials into ``.env``."""

from __future__ import annotations

import argparse
from pathlib import Path

from extension_platform_sdk.transport import Record

from . import project
from .env_file import EnvFile
from .output import add_json_argument, named, show
from .platform import Platform, app_path, signed_in

NAME = "install"
HELP = "install your app on your sandbox store, and write its credentials to .env"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    project.add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    folder = project.root() or Path()
    with signed_in() as platform:
        app = project.chosen_app(platform, args)
        with EnvFile(folder) as file:
            values = install(platform, app)
            missing = {"REDIRECT_URL": app["redirectUrl"]} if app["redirectUrl"] else {}
            file.keep({"CLIENT_ID": app["clientId"], **values}, new=missing)
    if project.root() is None:  # an app that `new` didn't make
        project.write(folder, app)
    show(
        {"app": named(app), "businessId": values["BUSINESS_ID"], "file": str(folder / ".env")},
        args,
        f"{app['name']} is on your sandbox store. Its access token and webhook secret are in {folder / '.env'}.\n"
        "Restart your app, so that it reads them.",
    )
    return 0


def install(platform: Platform, app: Record) -> dict[str, str]:
    """Install it. The result is for ``.env``; an earlier access token stops working."""
    issued = platform.post(app_path(app, "/test-install"))
    return {
        "PLATFORM_URL": platform.url,
        "ACCESS_TOKEN": issued["accessToken"],
        "WEBHOOK_SECRET": issued["webhookSecret"],
        "WEBHOOK_SECRET_STANDARD": standard(issued["webhookSecret"]),
        "BUSINESS_ID": issued["businessId"],
    }


def standard(secret: str) -> str:
    """A webhook secret as the libraries of Standard Webhooks take it, without ``test_``."""
    return "whsec_" + secret.rpartition("_")[2]
