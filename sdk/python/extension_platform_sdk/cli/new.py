"""``new NAME``: a folder with an app that runs, registered and installed on the sandbox store."""

from __future__ import annotations

import argparse
import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from urllib.parse import urlsplit

from extension_platform_sdk.errors import ApiError
from extension_platform_sdk.transport import Record, is_local

from . import config, install, manifest, project
from .env_file import EnvFile
from .errors import CliError, UsageError
from .output import add_json_argument, named, show
from .platform import Platform, signed_in
from .sources import of_folder, served

NAME = "new"
HELP = "make a folder with an app that runs: OAuth, a webhook, a hook, a block, tests"

LOCAL = "http://localhost:3000"
ELSEWHERE = "https://your-server.example"  # until the app has an address of its own
SCOPES = ["read_orders", "read_pages", "read_products"]
PYTHON = ("common", "python")
# The folders that make up a template; a later one wins.
TEMPLATES = {
    "flask": (*PYTHON, "flask"),
    "django": (*PYTHON, "django"),
    "fastapi": (*PYTHON, "fastapi"),
    "node": ("common", "node"),
}
LISTEN = f"extension-platform listen --forward-to {LOCAL}"
STARTS = {
    "flask": ("pip install -r requirements.txt", "pytest", "flask run --port 3000"),
    "django": ("pip install -r requirements.txt", "pytest", "python manage.py runserver 3000"),
    "fastapi": ("pip install -r requirements.txt", "pytest", "uvicorn app:app --port 3000"),
    "node": ("npm install", "npm test", "npm start"),
}
FILES = {
    "flask": {"app.py": "the app's addresses"},
    "django": {"urls.py": "the app's addresses", "views.py": "the pages, and installing on a store"},
    "fastapi": {"app.py": "the app's addresses"},
    "node": {"app.js": "the app's addresses"},
}
NAMES = {"python": ("handlers.py", "requirements.txt"), "node": ("handlers.js", "package.json")}
TESTS = {"python": ("test_app.py", "test_store.py"), "node": ("app.test.js", "store.test.js")}
RENAMED = {"gitignore": ".gitignore"}  # a package leaves out files whose names begin with a dot
ATTEMPTS = 20  # at a free slug


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the app's name")
    parser.add_argument("--slug", help="the app's slug, and that of its folder (default: made from the name)")
    parser.add_argument("--template", choices=tuple(TEMPLATES), required=True)
    parser.add_argument(
        "--server",
        metavar="URL",
        help=f"where your app will be (default for a platform on this machine: {LOCAL})",
    )
    parser.add_argument(
        "--sdk",
        metavar="FOLDER",
        help="install the SDK from the folder sdk of the platform's source code (default: from the platform)",
    )
    parser.add_argument("--local", action="store_true", help="make the folder only, and register nothing")
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    slug = _checked_slug(args.slug) if args.slug else slug_of(args.name)
    folder = Path(slug)
    if folder.exists():
        raise CliError(f"{folder} exists already. Choose another name, or delete it.")
    sdk = _sdk("node" if args.template == "node" else "python", args.sdk)
    if args.local:
        make(folder, args.name, slug, args.template, args.server or LOCAL, sdk)
        show({"folder": str(folder), "app": None, "commands": [], "problems": []}, args, f"Made {folder}.")
        return 0
    with signed_in() as platform:
        server = _server(platform, args.server)
        # It may fail, and what is registered stays.
        make(folder, args.name, slug, args.template, server, sdk)
        try:
            app, secret = _register(platform, args.name, slug, server)
        except BaseException:
            shutil.rmtree(folder)
            raise
        project.write(folder, app)
        credentials = {
            "CLIENT_ID": app["clientId"],
            "CLIENT_SECRET": secret,
            "REDIRECT_URL": app["redirectUrl"],
        }
        with EnvFile(folder) as file:
            file.keep(credentials)
        checked = manifest.push(platform, app, folder / manifest.FILE)
        with EnvFile(folder) as file:
            file.keep(install.install(platform, app))
    commands = [f"cd {folder}", *STARTS[args.template]]
    record = {
        "folder": str(folder),
        "app": named(app),
        "commands": [*commands, LISTEN],
        "problems": checked["problems"],
    }
    show(record, args, "\n".join(_lines(folder, app, checked, commands, server)))
    return 1 if checked["problems"] else 0


def _lines(folder: Path, app: Record, checked: Record, commands: Sequence[str], server: str) -> Iterator[str]:
    if checked["problems"]:
        yield from manifest.problems(checked)
    yield f"Made {folder}, and registered {app['name']} ({app['slug']}). It is on your sandbox store."
    yield "Its credentials are in .env. Go on with:"
    yield from (f"  {command}" for command in commands)
    yield f"Then, in a second terminal in {folder}, to receive webhooks and hook calls:"
    yield f"  {LISTEN}"
    if server == ELSEWHERE:
        yield (
            f"The app is registered at {server}, where nothing is: the platform can't reach this machine, and listen "
            "brings what is sent there. Once your app has an address, set its URLs in the portal and in .env."
        )


def _sdk(language: str, folder: str | None) -> str:
    """The address that the app installs the SDK from."""
    if folder:
        return of_folder(language, folder)
    platform = config.known_url()
    if platform is None:
        raise CliError("Sign in to a platform first, which has the SDK: extension-platform login URL")
    return served(language, platform)


def slug_of(name: str) -> str:
    """A name in lower case, with letters, digits and hyphens. Raises ``UsageError`` if nothing is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-")
    if not slug:
        raise UsageError(
            f"No slug can be made from {name}, which has no letter from a to z and no digit. Add one: --slug my-app"
        )
    return slug


def _checked_slug(text: str) -> str:
    if not re.fullmatch(r"(?=.{1,40}$)[a-z0-9]+(-[a-z0-9]+)*", text):
        raise UsageError(
            f"{text} is no slug: at most 40 letters from a to z, digits, and single hyphens between them."
        )
    return text


def make(folder: Path, name: str, slug: str, template: str, server: str, sdk: str) -> None:
    """Write the files of a template. It installs the SDK from the address ``sdk``."""
    texts: dict[str, str] = {}
    for part in TEMPLATES[template]:
        for file in _files(part):
            texts[RENAMED.get(file.name, file.name)] = file.read_text(encoding="utf-8")
    language = "node" if template == "node" else "python"
    handlers, dependencies = NAMES[language]
    of_app, of_store = TESTS[language]
    described = FILES[template] | {
        handlers: "what it does: one function for each event and hook",
        dependencies: "what it is installed with. The SDK comes from the platform",
        of_app: "its tests, without the platform",
        of_store: "its test on a store of the platform, which is skipped unless `EXTENSION_PLATFORM_URL` and "
        "`EXTENSION_PLATFORM_TOKEN` are set",
    }
    rows = "".join(f"| `{file}` | {about} |\n" for file, about in described.items())
    start = "Start it with:\n\n```sh\n" + "\n".join(STARTS[template]) + "\n```"
    texts["README.md"] = texts["README.md"].replace("START", start).replace("FILES", rows)
    folder.mkdir()
    for file_name, text in texts.items():
        filled = text.replace("NAME", _shown(name, file_name)).replace("SLUG", slug)
        filled = filled.replace("SERVER", server).replace("SDK_ADDRESS", sdk)
        (folder / file_name).write_text(filled, encoding="utf-8")


def _shown(name: str, file_name: str) -> str:
    """The name where a file shows it: inside HTML inside a string of the code."""
    if file_name.endswith(".md"):
        return name
    return re.sub(r"[^\w .,!-]", "", name)


def _files(part: str) -> list[Traversable]:
    folder = files("extension_platform_sdk.cli") / "templates" / part
    return sorted((file for file in folder.iterdir() if file.is_file()), key=lambda file: file.name)


def _server(platform: Platform, given: str | None) -> str:
    """Where the app will be.

    A platform elsewhere sends nothing to this machine. Until the app has a public address, it gets one that never exists
    (RFC 2606): ``listen`` brings what is sent there to this machine.
    """
    if given:
        return given.rstrip("/")
    return LOCAL if is_local(urlsplit(platform.url).hostname or "") else ELSEWHERE


def _register(platform: Platform, name: str, slug: str, server: str) -> tuple[Record, str]:
    """Create the app, under the first slug that is free. Returns it with its client secret."""
    body = {
        "name": name,
        "description": f"{name}, made from a template.",
        "category": "other",
        "scopes": SCOPES,
        "redirectUrl": f"{server}/callback",
        "webhookUrl": f"{server}/webhooks",
    }
    for number in range(1, ATTEMPTS):
        try:
            app = platform.post(
                "/developer/apps", body | {"slug": slug if number == 1 else f"{slug}-{number}"}
            )
        except ApiError as error:
            if error.status_code != 409:
                raise
        else:
            return app, str(app["clientSecret"])
    raise CliError(f"The slugs {slug} to {slug}-{ATTEMPTS - 1} are taken. Choose another name.")
