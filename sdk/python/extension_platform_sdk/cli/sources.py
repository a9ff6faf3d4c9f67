"""Where an app of ``new`` installs the SDK from.

No public registry has our packages, and a name that is free there may be anybody's tomorrow. So an app names an address of the
platform, which serves the SDKs of its own version.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urljoin

import requests

from extension_platform_sdk.transport import Session

from .errors import CliError

PACKAGES = {"python": "extension-platform-sdk", "node": "extension-platform-node"}
FILES = {"python": "pyproject.toml", "node": "package.json"}
LINK = re.compile(r'href="([^"]+\.(?:whl|tgz)(?:#sha256=[0-9a-f]{64})?)"')
TIMEOUT = 30.0


def served(language: str, platform: str) -> str:
    """The address of the SDK for ``python`` (with its hash) or ``node`` on a platform. Raises ``CliError`` if there is none."""
    index = f"{platform}/sdk/{language}/"
    try:
        with Session() as session:
            answer = session.get(index, timeout=TIMEOUT)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise CliError(f"The SDK couldn't be found at {index}: {error}") from None
    name = PACKAGES[language].replace("-", "[-_]")
    for link in LINK.findall(answer.text):
        if re.match(rf"{name}-\d", link):
            return urljoin(index, str(link))
    raise CliError(f"{index} has no {PACKAGES[language]}.")


def of_folder(language: str, folder: str) -> str:
    """The address of the SDK in the folder ``sdk`` of the platform's source code, or in the folder around it.

    Raises ``CliError`` if it isn't there.
    """
    for place in (Path(folder), Path(folder, "sdk")):
        if (place / language / FILES[language]).is_file():
            found = (place / language).resolve()
            return f"file:{found.as_posix()}" if language == "node" else found.as_uri()  # npm decodes no %20
    raise CliError(
        f"{folder} has no {language}/{FILES[language]}. Give the folder sdk of the platform's source code."
    )
