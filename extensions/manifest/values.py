"""What a single value of a definition may be. A rule raises `Wrong` with a sentence for the author."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from common.http import url_policy
from common.http.url_policy import is_own
from extensions.enums import EmbedKind
from extensions.json_documents import closest, quoted
from stores.hookpoints import HookPoint

MAX_KEY: Final = 100  # characters; the column of `Definition.key`
MAX_LINE: Final = 100
MAX_DESCRIPTION: Final = 500
MAX_PATH: Final = 500
TIMEOUTS: Final = range(100, 10_001)  # milliseconds
PRIORITIES: Final = range(1001)
POSITIONS: Final = {
    EmbedKind.GLOBAL_SCRIPT: ("head", "body_end"),
    EmbedKind.FLOATING_WIDGET: ("bottom_right", "bottom_left"),
}

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_BUT_LINES: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HASHES: Final = {"sha256": 32, "sha384": 48, "sha512": 64}  # bytes
_PATH: Final = re.compile(r"[A-Za-z0-9._~/-]+")

Rule = Callable[[Any], None]


class Wrong(ValueError):
    """A value that is refused. `suggestion` is what was probably meant, if that can be guessed."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.suggestion = suggestion


def key(value: Any) -> None:
    """What a definition is known by over all saves."""
    _line(value, MAX_KEY)
    if value != value.strip():
        raise Wrong("Must not begin or end with white space.")


def name(value: Any) -> None:
    _line(value, MAX_LINE)


def optional_line(value: Any) -> None:
    if value != "":
        _line(value, MAX_LINE)


def description(value: Any) -> None:
    _text(value, MAX_DESCRIPTION, _CONTROL_BUT_LINES)


def frame_url(value: Any) -> None:
    """`renderUrl` and `scriptUrl`: HTTPS, loopback http in DEBUG, a host that policies can name, and never on the
    service's own origin."""
    if not isinstance(value, str):
        raise Wrong("Must be a string, the full URL.")
    try:
        url_policy.check_page_url(value, debug=settings.DEBUG)
    except url_policy.InvalidUrl as error:
        raise Wrong(str(error)) from None
    if is_own(value):
        raise Wrong("Enter a URL of your own server: this one is on the platform's own origin.")
    _check_host(urlsplit(value).hostname or "")


def _check_host(host: str) -> None:
    """It goes into the policy of pages as it is written."""
    if "%" in host:
        raise Wrong("Enter a URL with a valid host name.")
    if host.endswith("."):
        raise Wrong("Enter the host without a dot at its end.")


def unused_url(value: Any) -> None:
    """The URL that an embed of the other kind would have: "may be present and is not used", whatever text it is."""
    if value is not None and not isinstance(value, str):
        raise Wrong("Enter a text, or leave it out.")


def unused_integrity(value: Any) -> None:
    """The hash of a widget, whatever text it is."""
    if not isinstance(value, str):
        raise Wrong("Enter a text, or leave it out.")


def integrity(value: Any) -> None:
    """Subresource Integrity of a script (W3C SRI): the browser refuses any other content."""
    if not isinstance(value, str):
        raise Wrong("Must be a string, such as sha384-oqVuAf….")
    name, _, digest = value.partition("-")
    if name not in _HASHES:
        raise Wrong(f"Enter one of {', '.join(_HASHES)}, a hyphen and the base64 of the hash.")
    try:
        length = len(b64decode(digest, validate=True))
    except ValueError:
        raise Wrong(f"Enter the {name} hash as base64.") from None
    if length != _HASHES[name]:
        raise Wrong(f"A {name} hash has {_HASHES[name]} bytes, not {length}.")


def embed_kind(value: Any) -> None:
    _one_of(value, EmbedKind.values, "kind of embed", "kinds")


def embed_position(kind: Any) -> Rule:
    """Positions depend on the kind; while that is wrong itself, any known one will do."""
    known = POSITIONS[EmbedKind(kind)] if kind in EmbedKind.values else sum(POSITIONS.values(), ())
    what = f"position of a {kind}" if kind in EmbedKind.values else "position"
    return partial(_one_of, known=known, what=what, several="positions")


def hook_point(value: Any) -> None:
    _one_of(value, [each.value for each in HookPoint], "hook point", "hook points")


def hook_path(value: Any) -> None:
    """Joined to the Webhook URL with exactly one slash, so it must not lead anywhere else."""
    if not isinstance(value, str):
        raise Wrong("Must be a string, such as /hooks/discounts.")
    if value.lower().startswith(("http:", "https:", "//")):
        raise Wrong("Enter only the path, such as /hooks/discounts. It is appended to the app's Webhook URL.")
    if not _PATH.fullmatch(value):
        raise Wrong("Enter a path of letters, digits and . _ ~ / - such as /hooks/discounts.")
    if ".." in value:
        raise Wrong("Enter a path without two dots in a row.")
    if len(value) > MAX_PATH:
        raise Wrong(f"Enter a path of at most {MAX_PATH} characters.")


def timeout(value: Any) -> None:
    _whole(value, TIMEOUTS, " milliseconds")


def priority(value: Any) -> None:
    _whole(value, PRIORITIES, "")


def _line(value: Any, at_most: int) -> None:
    _text(value, at_most, _CONTROL)
    if not value.strip():
        raise Wrong("Must not be empty.")


def _text(value: Any, at_most: int, forbidden: re.Pattern[str]) -> None:
    if not isinstance(value, str):
        raise Wrong("Must be a string.")
    if len(value) > at_most:
        raise Wrong(f"Must have at most {at_most} characters, not {len(value)}.")
    if forbidden.search(value):
        raise Wrong("Must not hold control characters.")


def _one_of(value: Any, known: Iterable[str], what: str, several: str) -> None:
    known = list(known)
    if isinstance(value, str) and value in known:
        return
    all_of_them = f"The {several} are: {', '.join(known)}."
    if not isinstance(value, str):
        raise Wrong(f"Must be a string. {all_of_them}")
    suggestion = closest(value, known)
    advice = f" Did you mean {quoted(suggestion)}?" if suggestion else ""
    raise Wrong(f"{quoted(value)} is not a {what}.{advice} {all_of_them}", suggestion)


def _whole(value: Any, allowed: range, unit: str) -> None:
    """A whole number, which may be written as 100.0."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value not in allowed:
        raise Wrong(f"Must be a whole number from {allowed.start} to {allowed.stop - 1}{unit}.")
