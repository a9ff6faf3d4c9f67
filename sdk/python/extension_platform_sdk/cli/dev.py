"""``dev``: the app's server, ``listen``, a check at each save, and the test store's page, by one command."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from extension_platform_sdk.errors import PlatformError
from extension_platform_sdk.transport import Record

from . import check, definition, listen, manifest, project
from .errors import CliError
from .forwarding import Target
from .login import open_browser
from .output import say
from .platform import Platform, app_path, description, signed_in

NAME = "dev"
HELP = "start your app, bring webhooks and hook calls to it, and check it at each save"

EVERY = 0.5  # seconds between two looks at the files
SETTLES = 1.0  # seconds without another save, after which the server is tried
STARTS_IN = 20.0  # seconds that a server has to answer
STOPS_IN = 5.0  # seconds that a server has to stop
# Folders of others' files, and what an app writes itself.
IGNORED = {"node_modules", "dist", "__pycache__", "installations.json", "db.sqlite3"}
OF_THE_APP = (manifest.FILE, definition.FILE)
CODE = (".py", ".js", ".mjs", ".ts", ".json", ".env", ".toml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--start",
        metavar="COMMAND",
        help=f"starts your server (default: that in {project.FILE}, which `new` wrote)",
    )
    parser.add_argument("--port", type=int, help="where it listens (default: as `new` wrote it, else 3000)")
    parser.add_argument("--no-check", action="store_true", help="don't check your server after each save")
    parser.add_argument("--no-open", action="store_true", help="open no page in the browser")
    parser.add_argument("--print", dest="prints", action="store_true", help="show headers and bodies")
    project.add_app_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print what is forwarded as JSON, one object a line"
    )


def run(args: argparse.Namespace) -> int:
    folder = project.root() or Path()
    command = args.start or project.noted("start")
    if not command:
        raise CliError(f'Say how your server starts: --start "npm start", or "start" in {project.FILE}.')
    port = args.port or int(project.noted("port") or 3000)
    with signed_in() as platform:
        app = project.chosen_app(platform, args)
        _check(platform, app, folder, args)
        page = f"{platform.url}/portal/apps/{app['slug']}/test/"
    server, trial = Server(str(command), folder, port), Trial(app, port, args)
    watching = threading.Thread(target=_watch, args=(server, trial, app, folder, args), daemon=True)
    server.start()
    try:
        watching.start()
        trial.begin()
        say(f"Your test store: {page}", apart=True)
        if not args.no_open:
            open_browser(page)
        args.since = None
        listen.forward(args, Target(f"http://localhost:{port}"))
    finally:
        server.stop()
    return 0


class Server:
    """The app's server: a command in a group of processes of its own, which ends with it."""

    def __init__(self, command: str, folder: Path, port: int) -> None:
        self._command, self._folder, self._port = command, folder, port
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_over = False

    def start(self) -> None:
        with self._lock:
            self._start()

    def _start(self) -> None:
        if self._is_over:
            return
        self._process = subprocess.Popen(  # noqa: S602 -- the person's own command, as in their terminal
            self._command,
            shell=True,
            cwd=self._folder,
            env=os.environ | {"PORT": str(self._port)},
            start_new_session=os.name != "nt",
        )

    def restart(self) -> None:
        with self._lock:
            self._end()
            self._start()

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            self._end()

    @property
    def has_ended(self) -> int | None:
        """Its exit status, once it ended by itself."""
        return self._process.poll() if self._process else None

    def _end(self) -> None:
        if self._process is None:
            return
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            with suppress(ProcessLookupError):  # it has ended, with all of its group
                if os.name == "nt":
                    self._process.terminate()
                else:
                    os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOPS_IN)
                break
        self._process = None


class Trial:
    """Has the platform's rules tried on the server after each save of its code, beside all else. Only the newest result is printed."""

    def __init__(self, app: Record, port: int, args: argparse.Namespace) -> None:
        self._app, self._address, self._args = app, f"http://localhost:{port}", args
        self._port, self._saves, self._saved = port, 0, threading.Event()

    def begin(self) -> None:
        """An app is tried as the server that it is registered as. At another address its install would fail."""
        if self._args.no_check:
            return
        if self._app.get("redirectUrl", "").startswith(f"{self._address}/"):
            threading.Thread(target=self._work, daemon=True).start()
        else:
            say(f"The app isn't registered at {self._address}, so that saves aren't checked.", apart=True)

    def saved(self) -> None:
        self._saves += 1
        self._saved.set()

    def _work(self) -> None:
        pause = threading.Event()
        while self._saved.wait():
            self._saved.clear()
            number = self._saves
            pause.wait(SETTLES)
            if number != self._saves or not self._answers():
                continue
            try:
                with signed_in() as platform:
                    began = platform.post(app_path(self._app, "/checks"), {"url": self._address})
                    said = check.in_short(check.finished(platform, self._app, began)["results"])
            except PlatformError as error:
                said = description(error)
            except CliError as error:
                said = error.message
            if number == self._saves:
                say(said, apart=True)

    def _answers(self) -> bool:
        until, pause = time.monotonic() + STARTS_IN, threading.Event()
        while time.monotonic() < until and not self._saved.is_set():
            with suppress(OSError), socket.create_connection(("localhost", self._port), timeout=1):
                return True
            pause.wait(EVERY)
        return False


def _watch(server: Server, trial: Trial, app: Record, folder: Path, args: argparse.Namespace) -> None:
    """Restart the server after a change of its code, and check after one of the app's own files."""
    seen, was_told, pause = dict(_files(folder)), False, threading.Event()
    while True:
        pause.wait(EVERY)
        now = dict(_files(folder))
        changed = {path for path in now.keys() | seen.keys() if now.get(path) != seen.get(path)}
        seen = now
        if changed - {folder / name for name in OF_THE_APP}:
            names = ", ".join(sorted(path.name for path in changed))
            say(f"{names} changed: your server starts again.", apart=True)
            server.restart()
            trial.saved()
            was_told = False
        elif (status := server.has_ended) is not None and not was_told:
            say(
                f"Your server has ended with status {status}. It starts again once you save a file.",
                apart=True,
            )
            was_told = True
        if changed & {folder / name for name in OF_THE_APP}:
            try:
                with signed_in() as platform:
                    _check(platform, project.chosen_app(platform, args), folder, args)
            except PlatformError as error:
                say(description(error), apart=True)
            except CliError as error:
                say(error.message, apart=True)


def _files(folder: Path) -> Iterator[tuple[Path, float]]:
    """The files that a server is made of, with when they changed."""
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in IGNORED and not name.startswith((".", "venv"))]
        for name in names:
            if name not in IGNORED and name.endswith(CODE):
                path = Path(here) / name
                with suppress(OSError):
                    yield path, path.stat().st_mtime


def _check(platform: Platform, app: Record, folder: Path, args: argparse.Namespace) -> None:
    """Say what is wrong with the app's files, or what a push would change. Nothing is saved."""
    lines: list[str] = []
    if (folder / definition.FILE).exists():
        wanted = definition.fields(definition.read(folder), args.environment)
        lines += [f"  {each['field']}" for each in definition.changes(app, wanted)]
    if (folder / manifest.FILE).exists():
        checked = manifest.check(platform, app, folder / manifest.FILE, args.environment)
        if checked["problems"]:
            say("\n".join(manifest.problems(checked)), apart=True)
            return
        lines += [f"  {line}" for line in manifest.differences_in_words(checked)]
    if lines:
        text = "\n".join(["Not saved on the platform yet:", *lines, "Save it: extension-platform app push"])
        say(text, apart=True)
