"""Which platform, and with which token.

``login`` keeps both in a file in the user's config directory that only the user can read. In CI, the environment variables
``EXTENSION_PLATFORM_URL`` and ``EXTENSION_PLATFORM_TOKEN`` take the file's place.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from extension_platform_sdk.transport import is_local

from .errors import CliError

URL, TOKEN = "EXTENSION_PLATFORM_URL", "EXTENSION_PLATFORM_TOKEN"


@dataclass(frozen=True, slots=True)
class Account:
    """A platform's address without a slash at its end, and a developer token for it."""

    url: str
    token: str = field(repr=False)


def account() -> Account:
    """Return the account to use. Raises ``CliError`` if there is none."""
    url, token = os.environ.get(URL), os.environ.get(TOKEN)
    if url and token:
        return Account(checked_url(url), token)
    kept = _kept()
    if kept is not None and token and not url:
        return Account(kept.url, token)
    if kept is None or (url and checked_url(url) != kept.url):
        raise CliError(f"You are not signed in. Run: extension-platform login {url or 'URL'}")
    return kept


def known_url() -> str | None:
    """The platform's address from the environment or from the last ``login``."""
    if url := os.environ.get(URL):
        return checked_url(url)
    kept = _kept()
    return kept.url if kept else None


def keep(account: Account) -> Path:
    """Write the account for later commands, and return the file."""
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    # The mode is given at the creation, so that no other user can open the file in between.
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as text:
        json.dump({"url": account.url, "token": account.token}, text, indent=2)
    fresh.replace(file)
    return file


def forget() -> tuple[Path, str] | None:
    """Delete the file of the account. Returns it with the platform's address; None without one."""
    kept, file = _kept(), _file()
    if kept is None:
        return None
    file.unlink(missing_ok=True)
    return file, kept.url


def checked_url(url: str) -> str:
    """The address of a platform, cleaned. Raises ``CliError`` unless it is HTTPS, or HTTP to this machine."""
    parts = urlsplit(url.strip())
    if parts.scheme == "https" and parts.hostname:
        return url.strip().rstrip("/")
    if parts.scheme == "http" and parts.hostname:
        if is_local(parts.hostname):
            return url.strip().rstrip("/")
        raise CliError(f"{url} would send your token unencrypted. Use https; http is for this machine only.")
    raise CliError(f"{url} is not the address of a platform. Give one such as https://platform.example.com.")


def _file() -> Path:
    windows = os.environ.get("APPDATA") if sys.platform == "win32" else None
    folder = windows or os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "extension-platform" / "account.json"


def _kept() -> Account | None:
    file = _file()
    try:
        record = json.loads(file.read_text())
        return Account(checked_url(record["url"]), record["token"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise CliError(f"{file} can't be read ({error}). Delete it and sign in again.") from None
