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

from . import config, definition, install, manifest, project
from .env_file import EnvFile
from .errors import CliError, UsageError
from .output import add_json_argument, named, show
from .platform import Platform, signed_in
from .sources import of_folder, served

NAME = "new"
HELP = "make a folder with an app that runs: OAuth, a webhook, a hook, a block, tests"

PORT = 3000
LOCAL = f"http://localhost:{PORT}"
ELSEWHERE = "https://your-server.example"  # until the app has an address of its own
SCOPES = definition.SCOPES
PYTHON = ("common", "python")
# The folders that make up a template; a later one wins.
TEMPLATES = {
    "flask": (*PYTHON, "flask"),
    "django": (*PYTHON, "django"),
    "fastapi": (*PYTHON, "fastapi"),
    "node": ("common", "node"),
    "typescript": ("common", "typescript"),
}
LISTEN = "extension-platform listen --forward-to http://localhost:LOCAL_PORT"
STARTS = {
    "flask": ("pip install -r requirements.txt", "pytest", "flask run --port LOCAL_PORT"),
    "django": ("pip install -r requirements.txt", "pytest", "python manage.py runserver LOCAL_PORT"),
    "fastapi": ("pip install -r requirements.txt", "pytest", "uvicorn app:app --port LOCAL_PORT"),
    "node": ("npm install", "npm test", "npm start"),
    "typescript": ("npm install", "npm test", "npm start"),
}
FILES = {
    "flask": {"app.py": "the app's addresses"},
    "django": {"urls.py": "the app's addresses", "views.py": "the pages, and installing on a store"},
    "fastapi": {"app.py": "the app's addresses"},
    "node": {"app.js": "the app's addresses"},
    "typescript": {"app.ts": "the app's addresses", "tsconfig.json": "how strictly the compiler reads it"},
}
NAMES = {
    "python": ("handlers.py", "requirements.txt"),
    "node": ("handlers.js", "package.json"),
    "typescript": ("handlers.ts", "package.json"),
}
TESTS = {
    "python": ("test_app.py", "test_store.py"),
    "node": ("app.test.js", "store.test.js"),
    "typescript": ("app.test.ts", "store.test.ts"),
}
FROM_NPM = ("node", "typescript")
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
    sdk = _sdk("node" if args.template in FROM_NPM else "python", args.sdk)
    if args.local:
        make(folder, args.name, slug, args.template, args.server or LOCAL, sdk)
        show({"folder": str(folder), "app": None, "commands": [], "problems": []}, args, f"Made {folder}.")
        return 0
    with signed_in() as platform:
        server = _server(platform, args.server)
        port = port_of(server)
        # It may fail, and what is registered stays.
        make(folder, args.name, slug, args.template, server, sdk)
        try:
            app, secret = _register(platform, args.name, slug, server)
        except BaseException:
            shutil.rmtree(folder)
            raise
        project.write(folder, app, start=starts(args.template, port)[-1], port=port)
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
    commands = [f"cd {folder}", *starts(args.template, port)]
    listen = _at(LISTEN, port)
    record = {
        "folder": str(folder),
        "app": named(app),
        "commands": [*commands, listen],
        "problems": checked["problems"],
    }
    show(record, args, "\n".join(_lines(folder, app, checked, commands, listen, server)))
    return 1 if checked["problems"] else 0


def _lines(
    folder: Path, app: Record, checked: Record, commands: Sequence[str], listen: str, server: str
) -> Iterator[str]:
    if checked["problems"]:
        yield from manifest.problems(checked)
    yield f"Made {folder}, and registered {app['name']} ({app['slug']}). It is on your sandbox store."
    yield "Its credentials are in .env. Go on with:"
    yield from (f"  {command}" for command in commands)
    yield f"Then, in a second terminal in {folder}, to receive webhooks and hook calls:"
    yield f"  {listen}"
    yield "Once it is installed, one command does both, and checks at each save:"
    yield "  extension-platform dev"
    if server == ELSEWHERE:
        yield (
            f"The app is registered at {server}, where nothing is: the platform can't reach this machine, and listen "
            "brings what is sent there. Once your app has an address, set it as server in app.json, run extension-platform app push, "
            "and set REDIRECT_URL in .env."
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
    language = template if template in FROM_NPM else "python"
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
    start = "Start it with:\n\n```sh\n" + "\n".join(starts(template, port_of(server))) + "\n```"
    texts["README.md"] = texts["README.md"].replace("START", start).replace("FILES", rows)
    texts[definition.FILE] = definition.written(definition.starter(name, server))
    folder.mkdir()
    for file_name, text in texts.items():
        if file_name == definition.FILE:
            (folder / file_name).write_text(text, encoding="utf-8")
            continue
        filled = text.replace("NAME", _shown(name, file_name)).replace("SLUG", slug)
        filled = filled.replace("SERVER", server).replace("SDK_ADDRESS", sdk)
        filled = _at(filled, port_of(server))
        (folder / file_name).write_text(filled, encoding="utf-8")


def port_of(server: str) -> int:
    """The port of the app on this machine: that of its address, if that is here, too."""
    address = urlsplit(server)
    try:
        port = address.port
    except ValueError:
        raise UsageError(f"{server} is no address: its port is not a number up to 65535.") from None
    return port if port and is_local(address.hostname or "") else PORT


def starts(template: str, port: int) -> list[str]:
    """The commands that start the app."""
    return [_at(command, port) for command in STARTS[template]]


def _at(text: str, port: int) -> str:
    return text.replace("LOCAL_PORT", str(port))


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
    body = definition.fields(definition.starter(name, server), None)
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
