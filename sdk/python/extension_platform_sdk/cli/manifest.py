"""``manifest check|diff|push|pull``: the manifest in this folder, and the one on the platform."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from extension_platform_sdk.transport import Record

from . import project
from .errors import CliError
from .platform import Platform, app_path, signed_in

NAME = "manifest"
HELP = "check, compare, save or fetch your app's manifest"

FILE = "manifest.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("check", "diff", "push", "pull"),
        help="check the file; show what a push would change; save the file; fetch the saved manifest into the file",
    )
    parser.add_argument(
        "--file", type=Path, metavar="FILE", help=f"(default: {FILE} in the folder of the app)"
    )
    parser.add_argument("--force", action="store_true", help="pull: overwrite a file that differs")
    project.add_app_argument(parser)


def run(args: argparse.Namespace) -> int:
    file: Path = args.file or (project.root() or Path()) / FILE
    with signed_in() as platform:
        app = project.chosen_app(platform, args)
        if args.action == "pull":
            return _pull(platform, app, file, force=args.force)
        text = _read(file)
        checked = platform.post(app_path(app, "/manifest/check"), {"text": text})
        if checked["problems"]:
            return _say_problems(file, checked)
        if args.action == "check":
            print(f"{file}: no problems.")
        elif args.action == "diff":
            _say_differences(checked)
        else:
            saved = platform.put(app_path(app, "/manifest"), json.loads(text))
            _say_changes(checked)
            if saved["reach"]["withNextVersion"]:
                print("Stores other than your sandbox store run part of this with the next approved version.")
    return 0


def push(platform: Platform, app: Record, file: Path) -> int:
    """Save a manifest, for ``new``. Returns the exit status; problems are printed."""
    text = _read(file)
    checked = platform.post(app_path(app, "/manifest/check"), {"text": text})
    if checked["problems"]:
        return _say_problems(file, checked)
    platform.put(app_path(app, "/manifest"), json.loads(text))
    return 0


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CliError(
            f"There is no {file}. Fetch the saved one with: extension-platform manifest pull"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{file} can't be read: {error}.") from None


def _pull(platform: Platform, app: Record, file: Path, *, force: bool) -> int:
    manifest = platform.get(app_path(app, "/manifest"))["manifest"]
    if file.exists() and not force:
        try:
            is_same = json.loads(_read(file)) == manifest
        except ValueError:
            is_same = False
        if not is_same:
            raise CliError(f"{file} differs from the saved manifest. Add --force to overwrite it.")
    file.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(f"Wrote {file}.")
    return 0


def _say_problems(file: Path, checked: Record) -> int:
    for each in checked["problems"]:
        path = f"{each['path']}: " if each["path"] else ""
        fix = f" Did you mean {each['suggestion']}?" if each["suggestion"] else ""
        print(f"{file}:{each['line']}:{each['column']}: {path}{each['message']}{fix}")
    count = checked["problemCount"]
    print(f"{count} {'problem' if count == 1 else 'problems'}.")
    return 1


def _say_changes(checked: Record) -> None:
    if not checked["changes"] and not checked["differences"]:
        print("No changes: this manifest is saved already.")
    for each in checked["changes"]:
        print(f"{each['change']}: {each['type']} {each['key']}. {each['reach']}")


def _say_differences(checked: Record) -> None:
    _say_changes(checked)
    for each in checked["differences"]:
        print(each["field"])
        for line in each["before"]:
            print(f"  - {line}")
        for line in each["after"]:
            print(f"  + {line}")
