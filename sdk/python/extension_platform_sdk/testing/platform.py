"""The platform on which tests open stores."""

from __future__ import annotations

from extension_platform_sdk.cli.config import Account, account, checked_url
from extension_platform_sdk.cli.forwarding import Target
from extension_platform_sdk.cli.platform import Platform, app_path
from extension_platform_sdk.cli.project import find_app

from .listening import AppServer
from .stores import TestStore

LASTS = 900  # seconds after which a store is gone, also if the test was killed


class TestPlatform:
    """A platform, and the app of yours that is tested there.

    ``app`` is a slug or an ID; without it the app is that of ``EXTENSION_PLATFORM_APP``, of the folder, or your only one.
    """

    __test__ = False  # no test case for pytest

    def __init__(self, url: str, token: str, *, app: str | None = None) -> None:
        self.url = checked_url(url)
        self._account = Account(self.url, token)
        self._api = Platform(self._account)
        try:
            self.app = find_app(self._api, app)
        except BaseException:
            self.close()
            raise

    @classmethod
    def from_environment(cls) -> TestPlatform:
        """As the command line finds it: by ``EXTENSION_PLATFORM_URL`` and ``EXTENSION_PLATFORM_TOKEN``, else by its ``login``."""
        found = account()
        return cls(found.url, found.token)

    def __enter__(self) -> TestPlatform:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def open_store(self, *, port: int, scenario: str = "default", expires_in: int = LASTS) -> TestStore:
        """A store on which the app is installed. Its events reach the app at this port of this machine.

        ``scenario`` is "default", with products and some orders, "empty" or "busy". Use the store in a ``with``, which deletes it.
        """
        server = AppServer(Target(f"http://127.0.0.1:{port}"))
        body = {"scenario": scenario, "expiresIn": expires_in}
        record = self._api.post(app_path(self.app, "/test-stores"), body)
        return TestStore(self._account, self._api, self.app, record, server)
