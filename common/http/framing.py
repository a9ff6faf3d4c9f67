"""Whether a browser would show a response in a frame on a page of another origin.

CSP Level 3, section 6.4.2 (`frame-ancestors`), which overrules `X-Frame-Options` (HTML, "The X-Frame-Options header").
"""

from typing import Final
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}


def refusal(*, policy: str, frame_options: str, host: str) -> str:
    """The header that forbids it, empty where none does. `host` is the origin of the page around the frame; `*` in it
    stands for every store."""
    ancestors = [sources for sources in map(_ancestors, policy.split(",")) if sources is not None]
    for sources in ancestors:
        if not any(_allows(source, host) for source in sources):
            return (
                f"Content-Security-Policy: frame-ancestors {' '.join(sources) or chr(39) + 'none' + chr(39)}"
            )
    if ancestors:
        return ""
    values = {value.strip().upper() for value in frame_options.split(",")}
    return f"X-Frame-Options: {frame_options}" if values & {"DENY", "SAMEORIGIN"} else ""


def _ancestors(policy: str) -> list[str] | None:
    """The sources of the first such directive; None where the policy has none."""
    for directive in policy.split(";"):
        name, *sources = directive.split() or [""]
        if name.lower() == "frame-ancestors":
            return sources
    return None


def _allows(source: str, origin: str) -> bool:
    """Whether a source expression covers the origin. 'self' is the app's own origin, which is never ours."""
    source, own = source.lower(), urlsplit(origin)
    if source == "*":
        return True
    if source.startswith("'"):
        return False
    if source in ("http:", "https:"):
        return own.scheme == source[:-1] or own.scheme == "https"
    scheme, _, rest = source.rpartition("://")
    if scheme and scheme != own.scheme and not (scheme == "http" and own.scheme == "https"):
        return False
    name, _, port = rest.partition("/")[0].partition(":")
    wanted = port or str(_PORTS[own.scheme])
    return wanted in ("*", str(own.port or _PORTS[own.scheme])) and _is_host(name, own.hostname or "")


def _is_host(pattern: str, host: str) -> bool:
    return host.endswith(pattern[1:]) if pattern.startswith("*.") else pattern in ("*", host)
