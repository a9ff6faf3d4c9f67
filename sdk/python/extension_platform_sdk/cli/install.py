"""``install``: put the app on the sandbox store, and its credentials into ``.env``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from extension_platform_sdk.transport import Record

from . import project
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
        values = install(platform, app)
        keep(folder, {"CLIENT_ID": app["clientId"], **values})
        if app["redirectUrl"]:
            keep(folder, {"REDIRECT_URL": app["redirectUrl"]}, only_new=True)
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


def keep(folder: Path, values: dict[str, str], *, only_new: bool = False) -> None:
    """Set variables in the folder's ``.env``, which only the user can read. The other lines stay, and with ``only_new`` all."""
    file = folder / ".env"
    lines = file.read_text().splitlines() if file.exists() else []
    if only_new:
        known = {line.partition("=")[0].strip() for line in lines}
        values = {name: value for name, value in values.items() if name not in known}
    kept = [line for line in lines if line.partition("=")[0].strip() not in values]
    text = "".join(f"{line}\n" for line in [*kept, *(f"{name}={value}" for name, value in values.items())])
    fresh = file.with_name(".env.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
        written.write(text)
    fresh.replace(file)
