"""What only pages need, and API paths go past: there a token says who calls, and no browser shows the answer.

Views of API paths have no `request.session` and no `request.user` of Django's.
"""

from typing import Any, Final

from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.http import HttpRequest

from common.answering import MessageMiddleware, SessionMiddleware
from common.middleware import is_api_path

API_POLICY: Final = "default-src 'none'; frame-ancestors 'none'"


class PagesOnly:
    """Stands before a middleware of Django's style among the bases."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if is_api_path(request.path_info):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class Sessions(PagesOnly, SessionMiddleware):
    pass


class Authentication(PagesOnly, AuthenticationMiddleware):
    pass


class Messages(PagesOnly, MessageMiddleware):
    pass


class ContentPolicy(CSPMiddleware):
    """The site's Content-Security-Policy; an API answer may load nothing, and nobody may frame it."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if not is_api_path(request.path_info):
            return super().__call__(request)
        response = self.get_response(request)
        response.headers["Content-Security-Policy"] = API_POLICY
        return response
