"""The developer API, as the commands use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote

from extension_platform_sdk.errors import ApiError, PlatformError, RateLimited
from extension_platform_sdk.transport import Record, Transport

from . import config
from .errors import CliError

TIMEOUT = 60.0  # seconds; a scenario on the sandbox takes up to half of it


class Platform:
    """Calls with a developer token. Every method raises ``ApiError`` for an error answer, ``Unreachable`` if none came.

    ``main`` turns both into a message, so that a command needs to catch only what it can handle.
    """

    def __init__(
        self,
        account: config.Account,
        *,
        timeout: float = TIMEOUT,
        wait_on_rate_limit: bool = True,
        retries: int = 2,
    ) -> None:
        self.url = account.url
        self._transport = Transport(
            account.url,
            account.token,
            timeout=timeout,
            wait_on_rate_limit=wait_on_rate_limit,
            retries=retries,
        )

    def __enter__(self) -> Platform:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def get(self, path: str, **query: Any) -> Record:
        """``get("/developer/apps", page=2)``. ``None`` in the query is left out."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._transport.record(dict, "GET", path, query=given)

    def post(self, path: str, body: Record | None = None) -> Record:
        return self._transport.record(dict, "POST", path, body)

    def put(self, path: str, body: Record) -> Record:
        return self._transport.record(dict, "PUT", path, body)

    def patch(self, path: str, body: Record) -> Record:
        return self._transport.record(dict, "PATCH", path, body)

    def delete(self, path: str) -> None:
        self._transport.send("DELETE", path)

    def apps(self) -> Iterator[Record]:
        """Your apps, newest first."""
        page = 1
        while True:
            found = self.get("/developer/apps", page=page, limit=50)
            yield from found["data"]
            if page * 50 >= found["total"]:
                return
            page += 1

    def app(self, name: str | None) -> Record:
        """The app with this ID, slug or name; without one the only app. Raises ``CliError`` for none or several."""
        apps = list(self.apps())
        if name is None:
            if len(apps) == 1:
                return apps[0]
            slugs = ", ".join(app["slug"] for app in apps) or "none yet"
            raise CliError(f"Say which app: --app SLUG. Your apps: {slugs}.")
        for key in ("id", "slug", "name"):
            for app in apps:
                if app[key] == name:
                    return app
        slugs = ", ".join(app["slug"] for app in apps) or "none yet"
        raise CliError(f"You have no app {name}. Your apps: {slugs}.")


def signed_in(*, timeout: float = TIMEOUT) -> Platform:
    """The platform with the account of ``login`` or of the environment. Raises ``CliError`` if there is none."""
    return Platform(config.account(), timeout=timeout)


def app_path(app: Record, rest: str = "") -> str:
    """``app_path(app, "/manifest")`` is ``/developer/apps/ID/manifest``."""
    return f"/developer/apps/{quote(cast(str, app['id']), safe='')}{rest}"


def description(error: PlatformError) -> str:
    """What went wrong with a call, for people, and what to do next. Problems of single fields follow, one a line."""
    if not isinstance(error, ApiError):
        return f"{error}."
    if error.status_code == 401:
        return "Your token is not valid any more. Run: extension-platform login"
    if isinstance(error, RateLimited):
        return f"{error.message} Try again in {error.retry_after or 60:.0f} s."
    lines = [f"{detail.get('field') or 'body'}: {detail.get('message')}" for detail in error.details]
    return "\n  ".join([error.message, *lines])
