"""The Content-Security-Policy of the guide, for a shop that has none."""

import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from extension_platform_store.django.connection import hosts, setting

GetResponse = Callable[[HttpRequest], HttpResponse]


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """Let pages load the shop's own things, the platform's, and the frames of apps. Scripts in pages need ``request.csp_nonce``.

    ``SCRIPT_SOURCES`` of the settings has what the shop needs beside, and ``WITHOUT_POLICY`` the beginnings of paths that have none.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        nonce = request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]
        response = get_response(request)
        if not request.path.startswith(tuple(setting("WITHOUT_POLICY", ()))):
            platform, frames = setting("URL"), " ".join(hosts()["frames"]) or "'none'"
            own = " ".join(["'self'", f"'nonce-{nonce}'", *setting("SCRIPT_SOURCES", ())])
            response["Content-Security-Policy"] = (
                f"script-src {own} {platform}; connect-src 'self' {platform};"
                f" frame-src {frames}; frame-ancestors 'self' {platform}"
            )
        return response

    return answer
