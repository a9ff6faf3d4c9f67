"""The Content Security Policy of pages that show what apps made: as wide as their apps need, and no wider."""

from collections.abc import Iterable

from django.http import HttpResponse

from extensions.storefront import origin_of

SELF = "'self'"


def widen(response: HttpResponse, *, frames: Iterable[str] = (), scripts: Iterable[str] = ()) -> HttpResponse:
    """Let the page show iframes of the origins of these URLs, and run these very scripts.

    A script of an app runs in the page, so it may also load what it needs from its own origin: further scripts, data,
    pictures and styles.
    """
    frame_origins = sorted({origin_of(url) for url in frames})
    script_origins = sorted({origin_of(url) for url in scripts})
    update: dict[str, list[str]] = {}
    if frame_origins or script_origins:
        update["frame-src"] = [SELF, *frame_origins, *script_origins]
    if script_origins:
        for directive in ("script-src", "connect-src", "style-src", "font-src", "media-src"):
            update[directive] = [SELF, *script_origins]
        update["img-src"] = script_origins
    response._csp_update = update  # type: ignore[attr-defined]  # noqa: SLF001
    return response
