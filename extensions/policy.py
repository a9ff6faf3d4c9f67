"""The Content Security Policy of pages that show what apps made: as wide as their apps need, and no wider.

Whatever puts an app's frame or script into a page says so here while the page is made; the middleware then adds its
origin to the policy of that answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse

from extensions.addresses import origin_of

SELF = "'self'"
BY_SCRIPTS = ("script-src", "connect-src", "style-src", "font-src", "media-src", "frame-src")


@dataclass(slots=True)
class Sources:
    """The origins of apps in one page."""

    frames: set[str] = field(default_factory=set)
    scripts: set[str] = field(default_factory=set)

    def directives(self) -> dict[str, list[str]]:
        """What is added to the policy. A script of an app runs in the page, so it may also load what it needs from its own
        origin: further scripts, data, pictures, styles and frames."""
        found: dict[str, list[str]] = {}
        if self.scripts:
            found = {name: [SELF, *sorted(self.scripts)] for name in BY_SCRIPTS}
            found["img-src"] = sorted(self.scripts)
        if self.frames or self.scripts:
            found["frame-src"] = [SELF, *sorted(self.frames | self.scripts)]
        return found


def allow_frame(request: HttpRequest, url: str) -> None:
    """The page that answers this request shows an iframe of this URL."""
    _sources(request).frames.add(origin_of(url))


def allow_script(request: HttpRequest, url: str) -> None:
    """The page that answers this request runs the script at this URL."""
    _sources(request).scripts.add(origin_of(url))


class AppSourcesMiddleware:
    """Widens an answer's policy by the sources that its page named."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        sources: Sources | None = getattr(request, "app_sources", None)
        if sources is not None:
            update: dict[str, list[str]] = dict(getattr(response, "_csp_update", None) or {})
            for name, values in sources.directives().items():
                update[name] = [*update.get(name, []), *values]
            response._csp_update = update  # type: ignore[attr-defined]  # noqa: SLF001
        return response


def _sources(request: HttpRequest) -> Sources:
    if not hasattr(request, "app_sources"):
        request.app_sources = Sources()  # type: ignore[attr-defined]
    found: Sources = request.app_sources  # type: ignore[attr-defined]
    return found
