"""The Content Security Policy of pages that show what apps made: as wide as their apps need, and no wider.

Whatever puts an app's frame or script into a page says so here while the page is made; the middleware then adds its
origin to the policy of that answer.

A script of an app runs on the store's origin, which the merchant's, the developer's and the reviewer's pages share. So on
a page that has one, everything that could reach these pages with the session of whoever looks on stays within the
store's own path: requests, forms, frames, and windows that the page opens.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from extensions.addresses import origin_of

SELF = "'self'"
BY_SCRIPTS = ("script-src", "style-src", "font-src", "media-src")

Directives = dict[str, list[str]]

OPENER_POLICY: Final = "noopener-allow-popups"
"""Cuts the tie between the page and any window of the site, whichever of them opened the other. A browser that does not
know the value takes it for `unsafe-none`, and the `same-origin` of the site's other pages cuts the tie to these."""


@dataclass(slots=True)
class Sources:
    """The origins of apps in one page."""

    frames: set[str] = field(default_factory=set)
    scripts: set[str] = field(default_factory=set)

    def added(self) -> Directives:
        """What is added to the policy. A script of an app runs in the page, so it may also load what it needs from its own
        origin: further scripts, pictures, styles and frames."""
        found: Directives = {}
        if self.scripts:
            found = {name: [SELF, *sorted(self.scripts)] for name in BY_SCRIPTS}
            found["img-src"] = sorted(self.scripts)
        elif self.frames:
            found["frame-src"] = [SELF, *sorted(self.frames)]
        return found

    def replaced(self, store: str) -> Directives:
        """What takes the place of the policy's own on a page with scripts of apps: `store`, the address that all pages of
        the store begin with, is all of the site that they may speak to."""
        return {
            "connect-src": [store, *sorted(self.scripts)],
            "form-action": [store],
            "frame-src": sorted(self.frames | self.scripts),
        }


def allow_frame(request: HttpRequest, url: str) -> None:
    """The page that answers this request shows an iframe of this URL."""
    _sources(request).frames.add(origin_of(url))


def allow_script(request: HttpRequest, url: str) -> None:
    """The page that answers this request runs the script at this URL."""
    _sources(request).scripts.add(origin_of(url))


class AppSourcesMiddleware:
    """Fits an answer's policy to the sources that its page named."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        sources: Sources | None = getattr(request, "app_sources", None)
        if sources is not None:
            _widen(response, sources.added())
        if sources is not None and sources.scripts:
            _confine(response, sources.replaced(_store(request)))
        return response


def _widen(response: HttpResponse, directives: Directives) -> None:
    update: Directives = dict(getattr(response, "_csp_update", None) or {})
    for name, values in directives.items():
        update[name] = [*update.get(name, []), *values]
    response._csp_update = update  # type: ignore[attr-defined]  # noqa: SLF001


def _confine(response: HttpResponse, directives: Directives) -> None:
    before: Directives = getattr(response, "_csp_replace", None) or {}
    response._csp_replace = before | directives  # type: ignore[attr-defined]  # noqa: SLF001
    response["Cross-Origin-Opener-Policy"] = OPENER_POLICY


def _store(request: HttpRequest) -> str:
    """Where the store's pages are, by the host that the browser asked. Policies match a path by its beginning where it
    ends with a slash."""
    match = request.resolver_match
    assert match
    return request.build_absolute_uri(reverse("store:home", args=[match.kwargs["shop_slug"]]))


def _sources(request: HttpRequest) -> Sources:
    if not hasattr(request, "app_sources"):
        request.app_sources = Sources()  # type: ignore[attr-defined]
    found: Sources = request.app_sources  # type: ignore[attr-defined]
    return found
