"""Where the SDKs are that an app of ``new`` installs.

No public registry has them, and a name that is free there may be anybody's tomorrow. So an app names the folders from which this
command line was installed: ``sdk/python`` and ``sdk/node`` of the platform's source code.
"""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from .errors import CliError

PACKAGE = "extension-platform-sdk"
MANIFESTS = {"python": "pyproject.toml", "node": "package.json"}


def source_of(language: str, given: str | None) -> Path:
    """The folder of the SDK for ``python`` or ``node``; ``given`` is the folder ``sdk`` or the one around it.

    Raises ``CliError`` if there is none.
    """
    for folder in _given(given) if given else _installed_from():
        if (folder / language / MANIFESTS[language]).is_file():
            return (folder / language).resolve()
    if given:
        raise CliError(
            f"{given} has no {language}/{MANIFESTS[language]}. Give the folder sdk of the platform's source code."
        )
    raise CliError("Say where the SDK is, with --sdk and the folder sdk of the platform's source code.")


def _given(folder: str) -> list[Path]:
    return [Path(folder), Path(folder, "sdk")]


def _installed_from() -> list[Path]:
    """Where this very file is, if it runs where its source is; then where pip took it from (PEP 610)."""
    found = [Path(__file__).resolve().parents[3]]
    try:
        record = json.loads(distribution(PACKAGE).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return found
    url = urlsplit(record.get("url", ""))
    return [*found, Path(url2pathname(url.path)).parent] if url.scheme == "file" else found
