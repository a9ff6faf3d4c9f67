"""``members``: who works on an app, and inviting, changing and removing them."""

from __future__ import annotations

import argparse

from extension_platform_sdk.transport import Record

from .errors import CliError, UsageError
from .output import add_json_argument, show
from .platform import Platform, app_path, signed_in
from .project import add_app_argument, chosen_app

NAME = "members"
HELP = "list, invite, change and remove the members of your app"

ROLES = ("DEVELOPER", "VIEWER")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--invite", metavar="EMAIL", help="mail an invitation that works for seven days")
    what.add_argument("--change", metavar="EMAIL", help="give a member another role")
    what.add_argument("--remove", metavar="EMAIL", help="remove a member, take an invitation back, or leave")
    parser.add_argument("--role", type=str.upper, choices=ROLES, help="for --invite and --change")
    add_app_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    email = args.invite or args.change
    if email and not args.role:
        raise UsageError("Say which role: --role developer or --role viewer.")
    if args.role and not email:
        raise UsageError("--role needs --invite EMAIL or --change EMAIL.")
    with signed_in() as platform:
        app = chosen_app(platform, args)
        path = app_path(app, "/members")
        if args.invite:
            made = platform.post(path, {"email": args.invite, "role": args.role})
            show(made, args, f"{args.invite} is invited. The link in the mail works for seven days.")
        elif args.change:
            changed = platform.patch(_member(platform, path, args.change), {"role": args.role})
            show(changed, args, f"{args.change} is a {args.role.lower()} now.")
        elif args.remove:
            platform.delete(_member(platform, path, args.remove))
            show({"removed": args.remove}, args, f"{args.remove} was removed.")
        else:
            found = _members(platform, path)
            show(found, args, "\n".join(map(_line, found)))
    return 0


def _members(platform: Platform, path: str) -> list[Record]:
    found: list[Record] = platform.get(path, limit=100)["data"]
    return found


def _member(platform: Platform, path: str, email: str) -> str:
    """The path of the member with this address. Raises ``CliError``."""
    wanted = email.strip().lower()
    for member in _members(platform, path):
        if member["email"] == wanted:
            return f"{path}/{member['id']}"
    raise CliError(f"{email} is no member of this app. List them: extension-platform members")


def _line(member: Record) -> str:
    invited = " (invited)" if member["state"] == "INVITED" else ""
    return f"{member['role']:10} {member['email']}{invited}"
