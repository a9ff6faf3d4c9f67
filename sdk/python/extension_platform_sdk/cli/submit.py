"""``submit``: sends the working copy to the reviewers, so that a release needs no browser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from extension_platform_sdk.errors import ApiError
from extension_platform_sdk.transport import Record

from . import manifest
from .errors import CliError
from .output import add_json_argument, show
from .platform import Platform, app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "submit"
HELP = "submit your app for review"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--how-to-test", metavar="TEXT", help="what reviewers need to know to try the app")
    parser.add_argument(
        "--scope-reason", metavar="TEXT", help="why the app needs its new scopes; merchants read it"
    )
    parser.add_argument(
        "--saved", action="store_true", help="submit the saved manifest, whatever is in manifest.json"
    )
    parser.add_argument(
        "--release",
        type=str.upper,
        choices=("ALL", "STEPS"),
        help="how the approved version reaches stores: all at once, or in steps",
    )
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    given = {"howToTest": args.how_to_test, "scopeReason": args.scope_reason, "release": args.release}
    body: dict[str, object] = {name: text for name, text in given.items() if text is not None}
    with signed_in() as platform:
        app = chosen_app(platform, args)
        file = manifest.default_file()
        if file.exists() and not args.saved:
            checked = manifest.check(platform, app, file, args.environment)
            if checked["problems"]:
                show(checked, args, "\n".join(manifest.problems(checked)))
                return 1
            if checked["differences"]:
                raise CliError(
                    f"{file} differs from the saved manifest. Save it: extension-platform manifest push. Or submit the saved "
                    "one: --saved."
                )
        ready = _readiness(platform, app)
        made = platform.post(app_path(app, "/submit"), body)
    questions = [item for item in ready["items"] if item["outcome"] == "WARN"]
    lines = [f"{app['name']} {made['version']} is submitted. See how it goes: extension-platform status"]
    show(made | {"questions": questions}, args, "\n".join([*_questions(questions, ready["url"]), *lines]))
    return 0


def _readiness(platform: Platform, app: Record) -> Record:
    """What the page **Review** lists. An older platform doesn't say it."""
    try:
        return platform.get(app_path(app, "/readiness"))
    except ApiError as error:
        if error.status_code != 404:
            raise
        return {"url": "", "items": []}


def _questions(items: Sequence[Record], page: str) -> Iterator[str]:
    """Nothing is refused for them."""
    if items:
        yield "A reviewer will likely question:"
        yield from (f"  {item['title'].rstrip('.')}. {item['about'] or ''}".rstrip() for item in items)
        yield f"  {page}"
