"""Options of the command line, each with an environment variable as its default."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """``port`` 0 takes a free one; ``public_url`` is where the platform reaches this app, ``None`` for here.

    ``stores`` are connected at the start: an access token each, and its webhook secret if it is known.
    Without ``client_id`` and ``client_secret`` stores are connected by access tokens only.
    """

    port: int
    platform_url: str
    stores_origin: str
    state_file: Path
    client_id: str | None
    client_secret: str | None
    stores: tuple[tuple[str, str | None], ...]
    public_url: str | None
    exit_with_stdin: bool


def read_config(arguments: Sequence[str], environment: Mapping[str, str]) -> Config:
    """Read the options; prints usage and exits with status 2 where one makes no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.sample_app", description="Order Bell, a sample third-party app."
    )
    parser.add_argument(
        "--port",
        type=int,
        default=environment.get("SAMPLE_APP_PORT", "8001"),
        help="port on 127.0.0.1, 0 for any free one (SAMPLE_APP_PORT, default 8001)",
    )
    parser.add_argument(
        "--platform",
        default=environment.get("PLATFORM_URL", "http://127.0.0.1:8000"),
        help="base URL of the platform (PLATFORM_URL, default http://127.0.0.1:8000)",
    )
    parser.add_argument(
        "--stores",
        default=environment.get("STORES_ORIGIN", "http://localhost:8000"),
        help="origin of the stores, with * for the name of one (STORES_ORIGIN, default http://localhost:8000)",
    )
    parser.add_argument(
        "--state-file",
        type=Path,
        default=environment.get("SAMPLE_APP_STATE", "var/sample-app.json"),
        help="JSON file for the connected stores (SAMPLE_APP_STATE, default var/sample-app.json)",
    )
    parser.add_argument(
        "--client-id",
        default=environment.get("CLIENT_ID"),
        help="Client ID of the app, for installing by OAuth (CLIENT_ID; the Client Secret comes by CLIENT_SECRET)",
    )
    parser.add_argument(
        "--access-token",
        default=environment.get("ACCESS_TOKEN"),
        help="store to connect at the start (ACCESS_TOKEN is better: other users can read a command line); "
        "its webhook secret comes by WEBHOOK_SECRET; several of both are separated by spaces, in the same order",
    )
    parser.add_argument(
        "--public-url",
        default=environment.get("SAMPLE_APP_URL"),
        help="base URL of this app as the platform reaches it (SAMPLE_APP_URL, default http://localhost:<port>)",
    )
    parser.add_argument(
        "--exit-with-stdin",
        action="store_true",
        help="end when standard input ends, so that a parent process that dies takes the app along",
    )
    options = parser.parse_args(arguments)
    if not 0 <= options.port <= 65535:
        parser.error("--port must be between 0 and 65535")
    client_secret = environment.get("CLIENT_SECRET")
    if bool(options.client_id) != bool(client_secret):
        parser.error("CLIENT_ID and CLIENT_SECRET belong together")
    tokens = (options.access_token or "").split()
    secrets = environment.get("WEBHOOK_SECRET", "").split()
    if len(secrets) > len(tokens):
        parser.error("WEBHOOK_SECRET holds more than ACCESS_TOKEN")
    return Config(
        port=options.port,
        platform_url=options.platform.rstrip("/"),
        stores_origin=options.stores.rstrip("/"),
        state_file=options.state_file,
        client_id=options.client_id or None,
        client_secret=client_secret or None,
        stores=tuple(zip_longest(tokens, secrets)),
        public_url=options.public_url.rstrip("/") if options.public_url else None,
        exit_with_stdin=options.exit_with_stdin,
    )
