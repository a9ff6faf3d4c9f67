"""``login``: let this command line in with the browser (RFC 8628)."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import requests

from extension_platform_sdk.errors import Unreachable
from extension_platform_sdk.transport import Session

from . import config
from .errors import CliError
from .output import add_json_argument, say, show

NAME = "login"
HELP = "sign in with the browser"

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
SLOWER = 5  # seconds that RFC 8628 adds for slow_down
TIMEOUT = 15.0
DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY")  # variables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="?", help="the platform's address (default: that of the last login)")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open nothing")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    url = config.checked_url(args.url) if args.url else config.known_url()
    if url is None:
        raise CliError("Give the platform's address: extension-platform login https://platform.example.com")
    with config.opened() as kept:
        form = {"client_name": f"Command line on {socket.gethostname()}"[:80]}
        codes = _post(f"{url}/developer/device", form)
        if "device_code" not in codes:
            raise CliError(f"{url} doesn't let command lines in: {_reason(codes)}")
        # For the person who allows it, whatever a program reads.
        say(
            f"Your code is {codes['user_code']}. Compare it with the one in the browser, and press Allow:\n"
            f"  {codes['verification_uri_complete']}",
            apart=args.json,
        )
        if not args.no_browser:
            open_browser(codes["verification_uri_complete"])
        answer = _wait(url, codes)
        file = config.keep(config.Account(url, answer["access_token"]), kept)
    until = datetime.now(UTC) + timedelta(seconds=answer["expires_in"])
    show(
        {"url": url, "expiresAt": until.isoformat(), "file": str(file)},
        args,
        f"Signed in to {url} until {until:%d %B %Y}. The token is in {file}.",
    )
    return 0


def open_browser(url: str) -> subprocess.Popen[bytes] | None:
    """Open the page where there is a desktop, or a browser that the person has named in ``BROWSER``.

    In a process of its own, without a terminal: a browser of the console would take this one's place, and its output would be
    between ours.
    """
    has_desktop = sys.platform in ("darwin", "win32") or any(map(os.environ.get, DESKTOPS))
    if not url.startswith(("https://", "http://")) or not (has_desktop or os.environ.get("BROWSER")):
        return None
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(  # noqa: S603 -- our own Python, and an address as one argument
        [sys.executable, "-m", "webbrowser", url],
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
        start_new_session=True,
    )


def _wait(url: str, codes: dict[str, Any]) -> dict[str, Any]:
    """Ask for the token until the person has answered. Raises ``CliError`` for a denial, or once the codes expire."""
    pause, end = float(codes["interval"]), time.monotonic() + float(codes["expires_in"])
    form = {"grant_type": GRANT_TYPE, "device_code": codes["device_code"]}
    while time.monotonic() < end:
        time.sleep(pause)
        try:
            answer = _post(f"{url}/developer/device/token", form)
        except Unreachable:
            continue  # a network that comes back within the lifetime of the codes loses nothing
        if "access_token" in answer:
            return answer
        if answer.get("error") == "slow_down":
            pause += SLOWER
        elif answer.get("error") not in ("authorization_pending", "temporarily_unavailable"):
            raise CliError(f"Not signed in: {_reason(answer)}")
    raise CliError("The code has expired. Run login again.")


def _post(url: str, form: dict[str, str]) -> dict[str, Any]:
    """The answer, an error by RFC 6749 included. Raises ``Unreachable``, also for 500 and above, or ``CliError`` if it
    isn't a JSON object."""
    try:
        with Session() as session:
            response = session.post(url, data=form, timeout=TIMEOUT, allow_redirects=False)
    except requests.RequestException as error:
        raise Unreachable(f"no answer from {url} ({type(error).__name__})") from error
    if response.status_code >= 500:
        raise Unreachable(f"{url} answered {response.status_code}")  # of a proxy, while the platform starts
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise CliError(f"{url} answered {response.status_code}, and not as an Extension Platform does.")
    return cast(dict[str, Any], answer)


def _reason(answer: dict[str, Any]) -> str:
    return str(answer.get("error_description") or answer.get("message") or answer.get("error") or "no reason")
