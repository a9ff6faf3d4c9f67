"""The Content-Security-Policy of pages, which allows exactly the frames and scripts of each page; and `Cross-Origin-Opener-Policy` where
windows from frames of apps lead to (docs/decisions/0070).

Code that puts an app's frame or script into a page allows its URL here while the page is rendered.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Final

from csp.constants import HEADER, SELF
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from common.http.url_policy import origin_of

Directives = dict[str, list[str]]

BY_SCRIPTS: Final = ("script-src", "connect-src", "style-src", "font-src", "media-src")


@dataclass(slots=True)
class Sources:
    """The foreign origins of one page."""

    frames: set[str] = field(default_factory=set)
    scripts: set[str] = field(default_factory=set)

    def add_frame(self, url: str) -> None:
        _add(self.frames, url)

    def add_script(self, url: str) -> None:
        _add(self.scripts, url)

    def directives(self) -> Directives:
        """What to add to the policy. A script may also load more from its own origin: scripts, data, images, styles
        and frames."""
        scripts = sorted(self.scripts)
        added: Directives = {}
        if scripts:
            added = {name: [SELF, *scripts] for name in BY_SCRIPTS} | {"img-src": scripts}
        return added | {"frame-src": [SELF, *sorted(self.frames | self.scripts)]}


def allow_frame(request: HttpRequest, url: str) -> None:
    """Allow an iframe with this URL in the response to this request."""
    _sources(request).add_frame(url)


def allow_script(request: HttpRequest, url: str) -> None:
    """Allow the script at this URL in the response to this request."""
    _sources(request).add_script(url)


def _add(origins: set[str], url: str) -> None:
    """A host with letters beyond ASCII, which a URL saved long ago may have, stays blocked: a policy can't name it."""
    origin = origin_of(url)
    if origin.isascii():
        origins.add(origin)


class ContentPolicy(CSPMiddleware):
    """Sends `CONTENT_SECURITY_POLICY` with the additions of views and of the page's sources.

    Unlike the library's middleware, also on error pages in `DEBUG`.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        parts = self.get_policy_parts(request=request, response=response)
        if hasattr(request, "page_sources"):
            parts.update = _added(parts.update or {}, _sources(request).directives())
        response.headers.setdefault(HEADER, build_policy(**asdict(parts)))
        return response


def _added(update: Directives, more: Directives) -> Directives:
    return update | {name: [*update.get(name, []), *values] for name, values in more.items()}


def _sources(request: HttpRequest) -> Sources:
    if not hasattr(request, "page_sources"):
        request.page_sources = Sources()  # type: ignore[attr-defined]
    found: Sources = request.page_sources  # type: ignore[attr-defined]
    return found


# --- The policy of openers ---------------------------------------------------------------------------

OPENER_HEADER: Final = "Cross-Origin-Opener-Policy"


class OpenerPolicyMiddleware:
    """Lets a sandboxed window show the pages of stores, and those at and below the paths of `OPENED_FROM_FRAMES`.

    A window inherits the sandbox of the frame that opened it, and shows no page with another policy than this, not even
    a redirect or an error. All other pages get Django's, from `SecurityMiddleware`, which must be outside of this.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if _opens_from_frames(request):
            response.headers[OPENER_HEADER] = "unsafe-none"
        return response


def _opens_from_frames(request: HttpRequest) -> bool:
    is_store = request.zone == "stores"  # type: ignore[attr-defined]
    return is_store or request.path.startswith(settings.OPENED_FROM_FRAMES)
