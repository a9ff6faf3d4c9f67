"""``python -m extension_platform_store new-shop DIR``: a folder with a small shop in Flask, connected by this client."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path

NAME = "new-shop"
HELP = "make a folder with a small shop in Flask that is connected, to read and to begin with"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="the folder, which must not be there yet, or be empty"
    )


def run(args: argparse.Namespace) -> int:
    """Return 0. Raises ``FileExistsError`` if the folder can't be used: nothing is written over."""
    folder: Path = args.folder
    write_shop(folder)
    sys.stdout.write(f"Made. Follow {folder / 'README.md'}.\n")
    return 0


def write_shop(folder: Path) -> None:
    """Write the template's files. Raises ``FileExistsError`` if the folder has anything in it, or is a file."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} is there already.")
    folder.mkdir(parents=True, exist_ok=True)
    for each in files(__name__).joinpath("template").iterdir():
        if each.is_file():
            (folder / each.name).write_text(each.read_text(encoding="utf-8"), encoding="utf-8")
