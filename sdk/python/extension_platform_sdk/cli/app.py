"""``app pull|diff|push``: the app in this folder, as ``app.json`` and ``manifest.json`` have it, and the one on the platform."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from extension_platform_sdk.errors import ApiError
from extension_platform_sdk.transport import Record

from . import definition, manifest, project
from .env_file import EnvFile
from .errors import CliError
from .output import add_json_argument, agreed, named, show
from .platform import Platform, app_path, signed_in

NAME = "app"
HELP = "compare, save or fetch app.json and manifest.json: name, scopes, URLs, texts, contacts, extensions"

SWITCHED_OFF = "Switched off"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("pull", "diff", "push"),
        help="fetch the app into the files; show what a push would change; save the files on the platform",
    )
    parser.add_argument(
        "--allow-deletes", action="store_true", help="push: don't ask, whatever is lost; for CI"
    )
    parser.add_argument("--force", action="store_true", help="pull: overwrite files that differ")
    project.add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    folder = project.root() or Path()
    with signed_in() as platform:
        if args.action == "pull":
            return _pull(platform, folder, args)
        file = definition.read(folder)
        wanted = definition.fields(file, args.environment)
        if args.action == "push" and _is_new(args):
            return _register(platform, folder, wanted, args)
        app = project.chosen_app(platform, args)
        found = list(definition.changes(app, wanted))
        checked = _checked(platform, app, folder, args.environment)
        record = {"app": named(app), "changes": found, "manifest": checked, "saved": False}
        if checked and checked["problems"]:
            show(record, args, "\n".join(manifest.problems(checked)))
            return 1
        lines = [*_lines(found), *(manifest.differences_in_words(checked) if checked else [])]
        if args.action == "push":
            _ask(_lost(found, checked), args)
            _save(platform, app, found, checked, folder, args.environment)
            record["saved"] = True
            lines.append(f"{app['name']} is saved." if lines else "No changes: all of it is saved already.")
        elif not lines:
            lines.append("No changes.")
    show(record, args, "\n".join(lines))
    return 0


def _is_new(args: argparse.Namespace) -> bool:
    return args.app is None and bool(args.environment) and project.app_of(args.environment) is None


def _checked(platform: Platform, app: Record, folder: Path, environment: str | None) -> Record | None:
    file = folder / manifest.FILE
    return manifest.check(platform, app, file, environment) if file.exists() else None


def _lines(found: list[Record]) -> Iterator[str]:
    for each in found:
        yield each["field"]
        yield f"  - {json.dumps(each['before'], ensure_ascii=False)}"
        yield f"  + {json.dumps(each['after'], ensure_ascii=False)}"


def _lost(found: list[Record], checked: Record | None) -> list[str]:
    lost = [each["lost"] for each in found if each["lost"]]
    off = [each for each in (checked or {}).get("changes", []) if each["change"] == SWITCHED_OFF]
    return lost + [f"{each['type']} {each['key']} is switched off" for each in off]


def _ask(lost: list[str], args: argparse.Namespace) -> None:
    if not lost or args.allow_deletes:
        return
    what = f"This push loses something: {'; '.join(lost)}."
    try:
        if agreed(f"{what} Save it?"):
            return
    except CliError:
        raise CliError(f"{what} Allow it with --allow-deletes.") from None
    raise CliError("Nothing is saved.")


def _save(
    platform: Platform,
    app: Record,
    found: list[Record],
    checked: Record | None,
    folder: Path,
    environment: str | None,
) -> None:
    if found:
        platform.patch(app_path(app), {each["field"]: each["after"] for each in found})
    if checked and checked["differences"]:
        manifest.save(platform, app, folder / manifest.FILE, environment)


def _register(platform: Platform, folder: Path, wanted: Record, args: argparse.Namespace) -> int:
    """Register the app of an environment, which the project's file doesn't know yet."""
    environment = str(args.environment)
    base = project.find_app(platform)
    slug = f"{base['slug'][: 39 - len(environment)]}-{environment}"
    with EnvFile(folder, f".env.{environment}") as file:
        try:
            app = platform.post("/developer/apps", wanted | {"slug": slug})
        except ApiError as error:
            if error.code != "slug_taken" and error.status_code != 409:
                raise
            raise CliError(
                f"The slug {slug} is taken. Register the app in the portal, and link it: --app SLUG."
            ) from None
        project.write(folder, app, environment)
        file.keep(
            {
                "PLATFORM_URL": platform.url,
                "CLIENT_ID": app["clientId"],
                "CLIENT_SECRET": app["clientSecret"],
                "REDIRECT_URL": app["redirectUrl"],
            }
        )
    checked = _checked(platform, app, folder, environment)
    if checked and not checked["problems"]:
        manifest.save(platform, app, folder / manifest.FILE, environment)
    record = {"app": named(app), "changes": [], "manifest": checked, "saved": True}
    lines = [
        f"Registered {app['name']} ({app['slug']}) for {environment}. Its credentials are in .env.{environment}."
    ]
    show(
        record,
        args,
        "\n".join([*(manifest.problems(checked) if checked and checked["problems"] else []), *lines]),
    )
    return 1 if checked and checked["problems"] else 0


def _differs(app: Record, file: Record, environment: str | None) -> bool:
    """Whether the file says something else than the platform. A field that only the platform has is no difference."""
    if environment is not None and environment not in file.get(definition.ENVIRONMENTS, {}):
        return False
    return any(definition.changes(app, definition.fields(file, environment)))


def _pull(platform: Platform, folder: Path, args: argparse.Namespace) -> int:
    app = project.chosen_app(platform, args)
    path = folder / definition.FILE
    before = definition.read(folder) if path.exists() else {}
    after = definition.pulled(app, before, args.environment)
    if _differs(app, before, args.environment) and not args.force:
        raise CliError(f"{path} differs from the app on the platform. Add --force to overwrite it.")
    files = [str(path)]
    file = folder / manifest.FILE
    fetched = manifest.fetched(platform, app, file, args.environment, force=args.force)
    path.write_text(definition.written(after), encoding="utf-8")
    file.write_text(fetched, encoding="utf-8")
    files.append(str(file))
    if project.root() is None:
        project.write(folder, app)
    show({"app": named(app), "files": files}, args, f"Wrote {' and '.join(files)}.")
    return 0
