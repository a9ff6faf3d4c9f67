"""``submit``: sends the working copy to the reviewers, so that a release needs no browser."""

from __future__ import annotations

import argparse

from extension_platform_sdk.transport import Record

from . import manifest
from .errors import CliError
from .output import add_json_argument, show
from .platform import app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "submit"
HELP = "submit your app for review"
ABOUT_PEOPLE = {"read_orders", "write_orders", "read_reviews"}


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
            checked = manifest.check(platform, app, file)
            if checked["problems"]:
                show(checked, args, "\n".join(manifest.problems(checked)))
                return 1
            if checked["differences"]:
                raise CliError(
                    f"{file} differs from the saved manifest. Save it: extension-platform manifest push. Or submit the saved "
                    "one: --saved."
                )
        made = platform.post(app_path(app, "/submit"), body)
    lines = [f"{app['name']} {made['version']} is submitted. See how it goes: extension-platform status"]
    show(made, args, "\n".join([*_open_items(app), *lines]))
    return 0


def _open_items(app: Record) -> list[str]:
    """What a reviewer will likely question. Nothing is refused for it."""
    if app.get("dataCountries") == [] and not ABOUT_PEOPLE.isdisjoint(app["scopes"]):
        what = "The app sees data about people and doesn't say where the data goes (dataCountries)."
        return [f"{what} Merchants and reviewers read that. Add the countries under Listing."]
    return []
