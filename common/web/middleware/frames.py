"""Pages that the operator's own pages may show in a frame (`EMBED_ORIGINS`): those whose views are marked, and no others.

    path("marketplace/", framable(views.index), name="marketplace")

In a frame, links and forms that lead to other pages open in the whole window, since these can't be framed. With `?embedded=1` the
page leaves out its head, navigation and footer (`request.embedded`), and its links and forms keep that. `request.framed` is true in either.
"""

import re
from collections.abc import Callable, Sequence
from html import escape, unescape
from typing import Any, Final, TypeVar, cast
from urllib.parse import SplitResult, parse_qsl, urlencode, urljoin, urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.cache import patch_vary_headers

View = TypeVar("View", bound=Callable[..., Any])

PARAMETER: Final = "embedded"
KEPT: Final = f'<input type="hidden" name="{PARAMETER}" value="1">'
# As our templates write them: values in double quotes, and no `>` elsewhere.
_TAG: Final = re.compile(r'<(a|form)\b((?:[^>"]|"[^"]*")*)>')
_ATTRIBUTE: Final = re.compile(r'\s([a-z-]+)(?:="([^"]*)")?')


def framable(view: View) -> View:
    """Mark a view whose page the operator's pages may frame. Never one that confirms, or asks for consent, a secret or a payment."""
    view.is_framable = True  # type: ignore[attr-defined]
    return view


class FramesMiddleware:
    """Has to be within `ContentPolicy` and what refuses frames, and within sessions and messages, since it renders a page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not (settings.EMBED_ORIGINS and _is_marked(getattr(request.resolver_match, "func", None))):
            return response
        if getattr(request, "framed", False):
            response = _in_frame(request, response)
        patch_vary_headers(response, ["Sec-Fetch-Dest"])
        response.xframe_options_exempt = True
        ancestors = {"frame-ancestors": list(settings.EMBED_ORIGINS)}
        response._csp_replace = getattr(response, "_csp_replace", {}) | ancestors  # type: ignore[attr-defined]  # noqa: SLF001
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> None:
        if settings.EMBED_ORIGINS and _is_marked(view):
            page = cast(Any, request)
            page.embedded = request.GET.get(PARAMETER) == "1"
            page.framed = page.embedded or request.headers.get("Sec-Fetch-Dest") == "iframe"


def _is_marked(view: object) -> bool:
    return bool(getattr(view, "is_framable", False))


def _is_embedded(request: HttpRequest) -> bool:
    return getattr(request, "embedded", False)


def _in_frame(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if isinstance(response, HttpResponseRedirectBase):
        return _redirected(request, response)
    if response.get("Content-Type", "").startswith("text/html") and not response.streaming:
        text = response.content.decode(response.charset)
        response.content = _TAG.sub(lambda tag: _rewritten(request, tag), text).encode(response.charset)
        if response.has_header("Content-Length"):
            response["Content-Length"] = str(len(response.content))
    return response


def _redirected(request: HttpRequest, response: HttpResponseRedirectBase) -> HttpResponse:
    """To another page of the frame; in place of all others, which no frame shows, one link that leaves it."""
    target = _Target(request, response.url)
    if target.is_framable:
        response["Location"] = target.kept()
        return response
    to_sign_in = urlsplit(response.url).path == reverse(settings.LOGIN_URL)
    url = _without_parameter(response.url) if to_sign_in else response.url
    page = render(request, "leave_frame.html", {"url": url, "to_sign_in": to_sign_in})
    page.cookies = response.cookies
    return page


def _without_parameter(url: str) -> str:
    """The sign-in page's address. The page after it is shown in the whole window."""
    query = [
        (name, _drop(urlsplit(value)) if name == "next" else value)
        for name, value in parse_qsl(urlsplit(url).query)
    ]
    return urlsplit(url)._replace(query=urlencode(query)).geturl()


def _drop(parts: SplitResult) -> str:
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] != PARAMETER]
    return parts._replace(query=urlencode(kept)).geturl()


class _Target:
    """Where a link, a form or a redirect of a page leads."""

    def __init__(self, request: HttpRequest, url: str) -> None:
        self.embedded = _is_embedded(request)
        self.parts = urlsplit(urljoin(request.build_absolute_uri(), url))
        self.is_framable = self.parts.netloc == request.get_host() and _leads_to_framable(self.parts.path)

    def kept(self) -> str:
        """The address, with the parameter where the page has it."""
        if not self.embedded:
            return self.parts._replace(scheme="", netloc="").geturl()
        query = dict(parse_qsl(self.parts.query, keep_blank_values=True))
        if query.get(PARAMETER) == "1":
            return self.parts._replace(scheme="", netloc="").geturl()
        more = "&".join(filter(None, (self.parts.query, f"{PARAMETER}=1")))
        return self.parts._replace(scheme="", netloc="", query=more).geturl()


def _leads_to_framable(path: str) -> bool:
    try:
        return _is_marked(resolve(path).func)
    except Resolver404:
        return False


def _rewritten(request: HttpRequest, tag: re.Match[str]) -> str:
    kind, inside = tag[1], tag[2]
    found = {name: unescape(value) for name, value in _ATTRIBUTE.findall(inside)}
    attribute = "href" if kind == "a" else "action"
    url = found.get(attribute)
    if "target" in found or found.get("method") == "dialog" or (kind == "a" and not _leads_away(url)):
        return tag[0]
    target = _Target(request, url or request.get_full_path())
    if not target.is_framable:
        return f'<{kind}{inside} target="_top">'
    if url is not None:
        kept = f'{attribute}="{escape(target.kept())}"'
        inside = re.sub(rf'(?<=\s){attribute}="[^"]*"', lambda _: kept, inside, count=1)
    is_kept_by_field = kind == "form" and target.embedded and found.get("method", "get").lower() == "get"
    return f"<{kind}{inside}>{KEPT if is_kept_by_field else ''}"


def _leads_away(url: str | None) -> bool:
    return bool(url) and not str(url).startswith(("#", "mailto:", "tel:"))
