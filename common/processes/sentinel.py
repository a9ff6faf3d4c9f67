"""Redis with Sentinel, by one URL: `sentinel://user:password@host:26379,host:26379,host:26379/0?master=name`.

User and password are those of the Redis servers.
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from redis.sentinel import Sentinel, SentinelConnectionPool

PORT: Final = 26379
EXAMPLE: Final = "sentinel://10.0.0.1:26379,10.0.0.2:26379,10.0.0.3:26379/0?master=main"


@dataclass(frozen=True)
class Address:
    """The sentinels, and the name by which they know the Redis servers."""

    sentinels: tuple[tuple[str, int], ...]
    master: str
    database: int
    credentials: str  # as in the URL, with its `@`; empty without

    def broker_url(self) -> str:
        """As Celery's library has it: a URL for each sentinel. The master's name is an option there."""
        return ";".join(
            f"sentinel://{self.credentials}{host}:{port}/{self.database}" for host, port in self.sentinels
        )

    def pool(self, **options: Any) -> SentinelConnectionPool:
        """Connections to whichever server is the master. A sentinel that is away costs a `socket_timeout`."""
        user, _, password = self.credentials.removesuffix("@").partition(":")
        if user:
            options["username"] = unquote(user)
        if password:
            options["password"] = unquote(password)
        waits = {name: value for name, value in options.items() if name.startswith("socket_")}
        sentinels = Sentinel(self.sentinels, sentinel_kwargs=waits)
        return SentinelConnectionPool(self.master, sentinels, db=self.database, **options)


def is_sentinel(url: str) -> bool:
    return url.startswith("sentinel:")


def parse(url: str) -> Address:
    """Raises ValueError, without the URL, since it may hold a password."""
    parts = urlsplit(url)
    credentials, at, hosts = parts.netloc.rpartition("@")
    query = parse_qs(parts.query)
    masters = query.pop("master", [])
    database = parts.path.strip("/") or "0"
    if len(masters) != 1 or query or not database.isdigit():
        raise ValueError(f"must look like {EXAMPLE}")
    return Address(tuple(map(_sentinel, hosts.split(","))), masters[0], int(database), credentials + at)


def _sentinel(text: str) -> tuple[str, int]:
    host, _, port = text.partition(":")
    if not host or not (port or str(PORT)).isdigit():
        raise ValueError(f"must name sentinels as host:port, separated by commas, such as {EXAMPLE}")
    return host, int(port or PORT)
