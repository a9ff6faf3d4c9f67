"""Options of the command line, each with an environment variable as its default."""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

OPTIONS = (
    ("port", "SAMPLE_APP_PORT", "8001", "port on 127.0.0.1; 0 takes a free one"),
    ("platform", "PLATFORM_URL", "http://127.0.0.1:8000", "base URL of the platform"),
    ("stores", "STORES_ORIGIN", "http://localhost:8000", "origin of the stores; * stands for a store's name"),
    ("state-file", "SAMPLE_APP_STATE", "var/sample-app.sqlite3", "the database"),
    ("client-id", "CLIENT_ID", "", "for installing by OAuth, with CLIENT_SECRET in the environment"),
    ("access-token", "ACCESS_TOKEN", "", "connects a store at the start; see the README"),
    (
        "public-url",
        "SAMPLE_APP_URL",
        "",
        "where the platform reaches this app, if not at http://localhost:<port>",
    ),
)


@dataclass(frozen=True, slots=True)
class Config:
    """``stores`` are connected at the start: an access token each, and its webhook secret if it is known."""

    port: int
    platform_url: str
    stores_origin: str
    state_file: Path
    client_id: str
    client_secret: str
    stores: tuple[tuple[str, str | None], ...]
    public_url: str
    exit_with_stdin: bool


def read_config(arguments: Sequence[str], environment: Mapping[str, str]) -> Config:
    """Read the options. If one makes no sense, print the usage and exit with status 2."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.sample_app", description="Order Bell, a sample app."
    )
    for name, variable, default, about in OPTIONS:
        text = f"{about} ({variable}{', default ' + default if default else ''})"
        parser.add_argument(f"--{name}", default=environment.get(variable, default), help=text)
    parser.add_argument("--exit-with-stdin", action="store_true", help="end when standard input ends")
    options = parser.parse_args(arguments)
    if not (options.port.isdecimal() and int(options.port) <= 65535):
        parser.error("--port must be between 0 and 65535")
    client_secret = environment.get("CLIENT_SECRET", "")
    if bool(options.client_id) != bool(client_secret):
        parser.error("CLIENT_ID and CLIENT_SECRET belong together")
    tokens, secrets = options.access_token.split(), environment.get("WEBHOOK_SECRET", "").split()
    if len(secrets) > len(tokens):
        parser.error("WEBHOOK_SECRET holds more than ACCESS_TOKEN")
    return Config(
        port=int(options.port),
        platform_url=options.platform.rstrip("/"),
        stores_origin=options.stores.rstrip("/"),
        state_file=Path(options.state_file),
        client_id=options.client_id,
        client_secret=client_secret,
        stores=tuple(zip_longest(tokens, secrets)),
        public_url=options.public_url.rstrip("/"),
        exit_with_stdin=options.exit_with_stdin,
    )
