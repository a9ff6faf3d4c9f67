"""``.env``: the app's credentials, as its server reads them."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import CliError
from .private_file import PrivateFile

_NAME = re.compile(r"\s*(?:export\s+)?([\w.-]+)\s*=")


class EnvFile(PrivateFile):
    """The ``.env`` of a folder, to be changed once. Raises ``OSError`` or ``CliError`` where that can't be."""

    def __init__(self, folder: Path, name: str = ".env") -> None:
        path = folder / name
        self._lines = _lines(path)
        super().__init__(path)

    def keep(self, values: dict[str, str], *, new: dict[str, str] | None = None) -> None:
        """Set variables; those of ``new`` only where the file hasn't them yet. Its other lines stay."""
        known = {_name(line) for line in self._lines}
        values = {name: value for name, value in (new or {}).items() if name not in known} | values
        kept = [line for line in self._lines if _name(line) not in values]
        lines = [*kept, *(f"{name}={value}" for name, value in values.items())]
        self.write("".join(f"{line}\n" for line in lines))


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig").removesuffix("\n")
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise CliError(f"{path} isn't text in UTF-8. Save it as UTF-8, and try again.") from None
    return text.split("\n") if text else []


def _name(line: str) -> str | None:
    found = _NAME.match(line)
    return found[1] if found else None
