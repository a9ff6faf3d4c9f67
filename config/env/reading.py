"""Reading one variable, or the file that it names: numbers, flags, choices."""

import math
import os
import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import ClassVar

import environ
from django.core.exceptions import ImproperlyConfigured
from environ.fileaware_mapping import FileAwareMapping

WHOLE_NUMBER = re.compile(r"[0-9]{1,18}")
LAST_PORT = 65_535
SHORTEST_NAME, ALIKE = 8, 0.88  # shorter names are like those of other programs
CONTROL_GROUP = Path("/sys/fs/cgroup/cpu.max")
SERVERS = ("work", "schedule", "deliver")  # commands that run until they are stopped, beside the web server


class Environment(FileAwareMapping):
    """The variables of this process. `NAME_FILE` may hold the path of a file with the value of `NAME`. `asked` has what was read so far."""

    asked: ClassVar[set[str]] = set()

    def __getitem__(self, name: str) -> str:
        return self._text(name).replace(
            "$", r"\$"
        )  # as `Env` reads it: a key may begin with what would name a variable

    def _text(self, name: str) -> str:
        self.asked.add(name)
        path = self.env.get(f"{name}_FILE")
        if not path:
            return str(self.env[name])
        if self.env.get(name):
            raise ImproperlyConfigured(
                f"{name} and {name}_FILE are both set. Unset {name} to use the file {path}, or {name}_FILE."
            )
        try:
            return Path(path).read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(
                f"{name}_FILE must be the path of a text file that this process may read: {error}."
            ) from error


class Env(environ.Env):
    ENVIRON = Environment()


env = Env()
env.escape_proxy = True  # a value that begins with `$` is that, and no other variable's name


def misspelled(names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Of these variables those that no setting has, but nearly: each with the name that is probably meant."""
    long = [each for each in known if len(each) >= SHORTEST_NAME]
    found = {}
    for name in sorted(set(names)):
        of_file = name.removesuffix("_FILE")
        if (
            name not in known
            and of_file not in known
            and (near := get_close_matches(of_file, long, 1, ALIKE))
        ):
            found[name] = near[0] + name[len(of_file) :]
    return found


def program(arguments: Sequence[str]) -> str:
    """Of a process that was started so: "web", "work", "schedule", "deliver", or "manage" for all other commands."""
    if "gunicorn" in Path(arguments[0]).parts[-2:]:
        return "web"
    command = arguments[1] if len(arguments) > 1 else ""
    return {"serve": "web", "runserver": "web"}.get(command, command if command in SERVERS else "manage")


def flag(name: str, *, default: bool = False) -> bool:
    """`1/0`, `true/false`, `yes/no`, `on/off`; anything else stops the start."""
    text = env.str(name, default="").strip().lower()
    if not text:
        return default
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {text!r}.")


def seconds_list(name: str, default: str) -> tuple[int, ...]:
    """Comma-separated whole seconds, each at least 0."""
    text = env.str(name, default="").strip() or default
    try:
        delays = tuple(int(part) for part in text.split(","))
    except ValueError:
        delays = ()
    if not delays or min(delays) < 0:
        raise ImproperlyConfigured(f"{name} must be whole seconds separated by commas, not {text!r}.")
    return delays


def seconds(name: str, default: int) -> int:
    return whole_number(name, default, of=" of seconds")


def whole_number(name: str, default: int, *, of: str = "") -> int:
    text = env.str(name, default="").strip() or str(default)
    if not WHOLE_NUMBER.fullmatch(text):
        raise ImproperlyConfigured(f"{name} must be a whole number{of}, not {text!r}.")
    return int(text)


def port(name: str, default: int) -> int:
    number = whole_number(name, default)
    if not 1 <= number <= LAST_PORT:
        raise ImproperlyConfigured(f"{name} must be a port from 1 to {LAST_PORT}, not {number}.")
    return number


def folder(name: str, default: Path) -> Path:
    """Whole, and a folder if it is there."""
    path = Path(env.str(name, default="") or default).resolve()
    if path.exists() and not path.is_dir():
        raise ImproperlyConfigured(f"{name} must be a folder, and {path} is a file.")
    return path


def made(folder: Path) -> None:
    """Make the folder of `VAR_DIR`. Raises `ImproperlyConfigured` if it can't be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"VAR_DIR must be a folder that this process may write. {error.filename}: {error.strerror}."
        ) from error


def at_least(minimum: int, name: str, default: int) -> int:
    number = whole_number(name, default)
    if number < minimum:
        raise ImproperlyConfigured(f"{name} must be at least {minimum}, not {number}.")
    return number


def address(name: str) -> tuple[str, int] | None:
    """`host:port` of this machine, or None."""
    text: str = env.str(name, default="").strip()
    if not text:
        return None
    host, _, number = text.rpartition(":")
    if not host or not WHOLE_NUMBER.fullmatch(number) or int(number) > LAST_PORT:
        raise ImproperlyConfigured(
            f"{name} must be an address and a port, such as 127.0.0.1:9101, not {text!r}."
        )
    return host.strip("[]"), int(number)


def choice(name: str, choices: tuple[str, ...]) -> str:
    """One of the words; the first is the default."""
    text: str = env.str(name, default="").strip() or choices[0]
    if text not in choices:
        raise ImproperlyConfigured(f"{name} must be {' or '.join(filter(None, choices))}, not {text!r}.")
    return text


def required(name: str, default: str, *, debug: bool, to: str) -> str:
    """A variable without which only development starts, with this default. `to` says what to set it to."""
    text: str = env.str(name, default="").strip()
    if not text and not debug:
        raise ImproperlyConfigured(f"{name} is missing: without DEBUG it must be set, to {to}.")
    return text or default


def checked_url(name: str, url: str, *, schemes: tuple[str, ...], example: str) -> str:
    """The URL, if it has one of the schemes. The message doesn't show the URL, which may hold a password."""
    scheme, separator, _ = url.partition("://")
    if not separator or scheme not in schemes:
        found = f", not with {scheme}://" if separator else ""
        accepted = " or ".join(f"{each}://" for each in schemes)
        raise ImproperlyConfigured(f"{name} must start with {accepted}{found}. For example: {example}")
    return url


def of_extra(name: str, *, extra: str, package: str) -> str:
    """The value of a variable that turns on an optional part of the product, whose packages have to be installed."""
    value: str = env.str(name, default="").strip()
    try:
        assert not value or version(package)
    except PackageNotFoundError:
        raise ImproperlyConfigured(
            f"{name} needs packages that are not installed: pip install '.[{extra}]'"
        ) from None
    return value


def cores(limits: Path = CONTROL_GROUP) -> int:
    """The processor cores that this process may use: the machine's, or fewer where it or its container is limited. At least 1."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = limits.read_text().split()
        return max(1, min(own, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no control groups, or "max": no limit
        return own
