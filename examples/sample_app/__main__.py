"""Starts the app and ends it: ``python -m examples.sample_app --help``."""

import logging
import os
import signal
import sqlite3
import sys
import threading
from types import FrameType

from .app import create_server
from .config import read_config
from .installing import connect_in_background


def main() -> int:
    """Serve until a signal, or with ``--exit-with-stdin`` the end of standard input; returns the exit status."""
    logging.basicConfig(level=logging.INFO, format="order bell: %(message)s", stream=sys.stdout)
    config = read_config(sys.argv[1:], os.environ)
    try:
        app, server = create_server(config)
    except (OSError, sqlite3.DatabaseError) as error:
        print(f"Order Bell can't start: {error}", file=sys.stderr)
        return 1
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    if config.exit_with_stdin:
        threading.Thread(target=_watch_stdin, daemon=True).start()
    connect_in_background(app)
    print(f"Order Bell is on http://localhost:{server.effective_port}/ for {config.platform_url}", flush=True)
    server.run()
    return 0


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _watch_stdin() -> None:
    """End with standard input. A parent that holds its other end takes the app along, even if it is killed."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
