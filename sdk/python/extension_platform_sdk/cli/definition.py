"""``app.json``: what the app is, beside its ``manifest.json``, so that both are in the repository.

It has fields of the developer API by their names. ``server`` is where the app runs: texts of both files may begin with ``{server}``.
``environments`` has by name what is different there, such as another server and name for staging.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from extension_platform_sdk.transport import Record

from .errors import CliError

FILE = "app.json"
SERVER, ENVIRONMENTS = "server", "environments"
PLACEHOLDER = "{server}"
DEFAULTS = {"liveSaves": True, "sessionTokenAlg": "HS256"}
SCOPES = ["read_orders", "read_pages", "read_products"]
# In the order of the file.
FIELDS = (
    "name", "description", "longDescription", "category", "version", "scopes", "redirectUrl", "webhookUrl", "webhookEvents",
    "webhookFilter", "supportUrl", "privacyUrl", "dataCountries", "dataRetentionDays", "dataProcessors", "liveSaves",
    "sessionTokenAlg",
)  # fmt: skip


def starter(name: str, server: str) -> Record:
    """The file of an app that is made from a template."""
    return {
        SERVER: server,
        "name": name,
        "description": f"{name}, made from a template.",
        "category": "other",
        "version": "0.1.0",
        "scopes": SCOPES,
        "redirectUrl": f"{PLACEHOLDER}/callback",
        "webhookUrl": f"{PLACEHOLDER}/webhooks",
        "supportUrl": "",
        "privacyUrl": "",
        "dataCountries": [],
    }


def written(file: Record) -> str:
    """As the file is written."""
    return json.dumps(file, indent=2, ensure_ascii=False) + "\n"


def read(folder: Path) -> Record:
    """The file of a folder as it is. Raises ``CliError`` if there is none, or for what no such file has."""
    path = folder / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise CliError(f"There is no {path}. Write it with: extension-platform app pull") from None
    except (OSError, ValueError) as error:
        raise CliError(f"{path} can't be read as JSON: {error}.") from None
    environments = found.get(ENVIRONMENTS, {}) if isinstance(found, dict) else None
    if not isinstance(environments, dict) or not all(
        isinstance(each, dict) for each in environments.values()
    ):
        raise CliError(f"{path} must be a JSON object, and {ENVIRONMENTS} in it one of such objects.")
    for where, part in {"": found, **environments}.items():
        known = (SERVER, *FIELDS, *([] if where else [ENVIRONMENTS]))
        for name in part:
            if name not in known:
                likely = get_close_matches(name, known, 1)
                hint = f" Did you mean {likely[0]}?" if likely else f" It knows: {', '.join(known)}."
                raise CliError(f"{path}: unknown field {f'{where}.' if where else ''}{name}.{hint}")
    return dict(found)


def of_environment(file: Record, environment: str | None) -> Record:
    """The values of the file for an environment, ``server`` among them. Raises ``CliError`` for one that it doesn't name."""
    if environment is None:
        return {name: value for name, value in file.items() if name != ENVIRONMENTS}
    if environment not in file.get(ENVIRONMENTS, {}):
        raise CliError(
            f'{FILE} has no environment {environment}. Add it: "{ENVIRONMENTS}": {{"{environment}": {{…}}}}.'
        )
    return of_environment(file, None) | file[ENVIRONMENTS][environment]


def fields(file: Record, environment: str | None) -> Record:
    """The app's fields as the API reads them."""
    values = of_environment(file, environment)
    server = values.pop(SERVER, None)
    return {name: filled(value, server) for name, value in values.items()}


def server_of(folder: Path, environment: str | None) -> str | None:
    """Where the app of a folder runs; None without an ``app.json`` that says it."""
    if not (folder / FILE).exists():
        return None
    found = of_environment(read(folder), environment).get(SERVER)
    return str(found).rstrip("/") if found else None


def filled(value: Any, server: str | None) -> Any:
    """A text with its server. Raises ``CliError`` if the file doesn't name that."""
    if not isinstance(value, str) or PLACEHOLDER not in value:
        return value
    if not server:
        raise CliError(
            f'{PLACEHOLDER} needs the server. Name it in {FILE}: "{SERVER}": "https://app.example.com".'
        )
    return value.replace(PLACEHOLDER, server.rstrip("/"))


def hollowed(text: str, server: str | None) -> str:
    """The reverse for a text or for JSON: addresses on the server begin with ``{server}``."""
    if not server:
        return text
    server = server.rstrip("/")
    at_begin = PLACEHOLDER + text.removeprefix(server) if text.startswith(f"{server}/") else text
    return at_begin.replace(f'"{server}/', f'"{PLACEHOLDER}/')


def pulled(app: Record, file: Record, environment: str | None) -> Record:
    """The file with what the platform has. Values that an environment shares with the others stay where they are."""
    values = of_environment(file, environment if environment in file.get(ENVIRONMENTS, {}) else None)
    server = values.get(SERVER)
    found = {}
    for name in (each for each in FIELDS if each in app):
        value = _plain(app[name])
        if name in values and _normal(name, filled(values[name], server)) == _normal(name, value):
            found[name] = values[name]
        elif name in values or not (is_empty(value) or value == DEFAULTS.get(name)):
            found[name] = hollowed(value, server) if isinstance(value, str) else value
    if environment is None:
        return (
            ({SERVER: server} if server else {})
            | found
            | {name: file[name] for name in (ENVIRONMENTS,) if name in file}
        )
    base = of_environment(file, None)
    own = {name: value for name, value in found.items() if value != base.get(name)}
    own = ({SERVER: server} if server and server != base.get(SERVER) else {}) | own
    return file | {ENVIRONMENTS: file.get(ENVIRONMENTS, {}) | {environment: own}}


def changes(app: Record, wanted: Record) -> Iterator[Record]:
    """``{field, before, after, lost}`` for what a push would change; ``lost`` is what is gone then, in words."""
    for name, after in wanted.items():
        before = _plain(app.get(name))
        if _normal(name, before) == _normal(name, after):
            continue
        lost = None
        if isinstance(before, list) and isinstance(after, list):
            gone = [str(each) for each in before if each not in after]
            lost = f"{name} loses {', '.join(gone)}" if gone else None
        elif is_empty(after) and not is_empty(before):
            lost = f"{name} is emptied"
        yield {"field": name, "before": before, "after": after, "lost": lost}


def is_empty(value: Any) -> bool:
    """Whether a field says nothing: no text, no entries, null."""
    return value is None or value == "" or value == []


def _plain(value: Any) -> Any:
    return "" if value is None else value


def _normal(name: str, value: Any) -> Any:
    if is_empty(value):
        return None
    if name == "supportUrl" and "@" in value and ":" not in value:
        return f"mailto:{value}"
    return sorted(value) if name in ("scopes", "webhookEvents", "dataCountries") else value
