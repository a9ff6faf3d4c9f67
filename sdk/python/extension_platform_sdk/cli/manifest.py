"""``manifest check|diff|push|pull``: the manifest in this folder, and the one on the platform."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from extension_platform_sdk.transport import Record

from . import definition, project
from .errors import CliError
from .output import add_json_argument, show
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
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    file = args.file or default_file()
    with signed_in() as platform:
        app = project.chosen_app(platform, args)
        if args.action == "pull":
            return _pull(platform, app, file, args)
        checked = check(platform, app, file, args.environment)
        if checked["problems"]:
            show(checked, args, "\n".join(problems(checked)))
            return 1
        if args.action == "check":
            lines = [f"{file}: no problems."]
        elif args.action == "diff":
            lines = [*_changes(checked), *_differences(checked)]
        else:
            saved = save(platform, app, file, args.environment)
            lines = [*_changes(checked)]
            if saved["reach"]["withNextVersion"]:
                lines.append(
                    "Stores other than your sandbox store run part of this with the next approved version."
                )
            elif app["isListed"] and not app["liveSaves"] and checked["differences"]:
                lines.append(
                    "Saves aren't live for this app: stores other than your sandbox store run what differs from the "
                    "approved version with the next one."
                )
    show(checked | {"saved": args.action == "push"}, args, "\n".join(lines))
    return 0


def default_file() -> Path:
    return (project.root() or Path()) / FILE


def check(platform: Platform, app: Record, file: Path, environment: str | None = None) -> Record:
    """The platform's problems of a manifest, and its differences from the saved one. Not saved."""
    checked = platform.post(app_path(app, "/manifest/check"), {"text": _read(file, environment)})
    return {"file": str(file)} | checked


def push(platform: Platform, app: Record, file: Path) -> Record:
    """Save a manifest, unless it has problems. Returns what ``check`` does."""
    checked = check(platform, app, file)
    if not checked["problems"]:
        save(platform, app, file)
    return checked


def save(platform: Platform, app: Record, file: Path, environment: str | None = None) -> Record:
    """Save a manifest that was checked. Returns the platform's answer."""
    return platform.put(app_path(app, "/manifest"), json.loads(_read(file, environment)))


def problems(checked: Record) -> Iterator[str]:
    """A line for each, which begins with file, line and path."""
    for each in checked["problems"]:
        path = f"{each['path']}: " if each["path"] else ""
        fix = f" Did you mean {each['suggestion']}?" if each["suggestion"] else ""
        yield f"{checked['file']}:{each['line']}:{each['column']}: {path}{each['message']}{fix}"
    count = checked["problemCount"]
    yield f"{count} {'problem' if count == 1 else 'problems'}."


def _read(file: Path, environment: str | None = None) -> str:
    """Its text, with the server of the ``app.json`` beside it."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CliError(
            f"There is no {file}. Fetch the saved one with: extension-platform manifest pull"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(f"{file} can't be read: {error}.") from None
    if definition.PLACEHOLDER not in text:
        return text
    return str(definition.filled(text, definition.server_of(file.parent, environment)))


def fetched(platform: Platform, app: Record, file: Path, environment: str | None, *, force: bool) -> str:
    """The text of the saved manifest, for the file. Raises ``CliError`` where the file differs, unless it may be overwritten."""
    manifest = platform.get(app_path(app, "/manifest"))["manifest"]
    if file.exists():
        try:
            is_same = json.loads(_read(file, environment)) == manifest
        except ValueError:
            is_same = False
        if is_same:
            return file.read_text(encoding="utf-8-sig")
        if not force:
            raise CliError(f"{file} differs from the saved manifest. Add --force to overwrite it.")
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    return definition.hollowed(text, definition.server_of(file.parent, environment))


def _pull(platform: Platform, app: Record, file: Path, args: argparse.Namespace) -> int:
    text = fetched(platform, app, file, args.environment, force=args.force)
    manifest = json.loads(text)
    file.write_text(text, encoding="utf-8")
    show({"file": str(file), "manifest": manifest}, args, f"Wrote {file}.")
    return 0


def differences_in_words(checked: Record) -> Iterator[str]:
    """What a save would change; nothing without a difference."""
    if checked["changes"] or checked["differences"]:
        yield from _changes(checked)
        yield from _differences(checked)


def _changes(checked: Record) -> Iterator[str]:
    if not checked["changes"] and not checked["differences"]:
        yield "No changes: this manifest is saved already."
    for each in checked["changes"]:
        yield f"{each['change']}: {each['type']} {each['key']}. {each['reach']}"


def _differences(checked: Record) -> Iterator[str]:
    for each in checked["differences"]:
        yield each["field"]
        yield from (f"  - {line}" for line in each["before"])
        yield from (f"  + {line}" for line in each["after"])
