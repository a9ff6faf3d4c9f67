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

from extension_platform_sdk.transport import clean_secret, is_local

from .errors import CliError
from .private_file import PrivateFile

URL, TOKEN = "EXTENSION_PLATFORM_URL", "EXTENSION_PLATFORM_TOKEN"


@dataclass(frozen=True, slots=True)
class Account:
    """A platform's address without a slash at its end, and a developer token for it."""

    url: str
    token: str = field(repr=False)


def account() -> Account:
    """Return the account to use. Raises ``CliError`` if there is none."""
    url, token = os.environ.get(URL), _token_of_environment()
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


def opened() -> PrivateFile:
    """The file of the account, for ``keep``."""
    return PrivateFile(_file())


def keep(account: Account, file: PrivateFile | None = None) -> Path:
    """Write the account for later commands, into what ``opened`` returned or now. Returns the file's path."""
    with file or opened() as kept:
        kept.write(json.dumps({"url": account.url, "token": account.token}, indent=2))
    return kept.path


def forget() -> tuple[Path, str] | None:
    """Delete the file of the account. Returns it with the platform's address; None without one."""
    kept, file = _kept(), _file()
    if kept is None:
        return None
    file.unlink(missing_ok=True)
    return file, kept.url


def _token_of_environment() -> str:
    try:
        return clean_secret(os.environ.get(TOKEN, ""), TOKEN)
    except ValueError as error:
        raise CliError(str(error)) from None


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
        record = json.loads(file.read_text(encoding="utf-8-sig"))
        return Account(checked_url(record["url"]), clean_secret(record["token"], "Its token"))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CliError(f"{file} can't be read ({error}). Delete it and sign in again.") from None
