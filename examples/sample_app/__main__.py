"""Starts the app and ends it: ``python -m examples.sample_app --help``."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading

from .config import Config, read_config
from .server import Server

STDIN = 0


def main() -> int:
    """Serve until a signal, or with ``--exit-with-stdin`` the end of standard input; returns the exit status."""
    logging.basicConfig(level=logging.INFO, format="order bell: %(message)s", stream=sys.stdout)
    config = read_config(sys.argv[1:], os.environ)
    try:
        server = Server(config)
    except (OSError, ValueError) as error:
        print(f"Order Bell can't start: {error}", file=sys.stderr)
        return 1
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if config.exit_with_stdin:
        threading.Thread(target=_watch_stdin, args=(stop,), name="stdin", daemon=True).start()
    _serve(server, config, stop)
    return 0


def _serve(server: Server, config: Config, stop: threading.Event) -> None:
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name="http").start()
    server.app.start.run_in_background()
    print(f"Order Bell is on http://localhost:{server.server_port}/ for {config.platform_url}", flush=True)
    stop.wait()
    server.app.start.stop()
    server.shutdown()
    server.server_close()


def _watch_stdin(stop: threading.Event) -> None:
    """Set ``stop`` when standard input ends.

    A parent that starts the app with a pipe as its standard input, and keeps the other end open, takes the app
    along however it ends: the system closes the pipe even for a process that was killed and could clean up
    nothing. It is read below Python's file object, whose lock a waiting thread would still hold at the exit.
    """
    while os.read(STDIN, 4096):
        pass
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
