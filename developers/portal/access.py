"""Access to the portal's pages: decided here, once for all."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from common.web.forms.kept import signed_in
from developers import limits
from marketplace.queries import own_app_by_slug

Page = Callable[..., HttpResponse]


def developer_page(view: Page) -> Page:
    """A page for developers. Redirects to sign-in without a session; answers 403 to other roles."""

    @signed_in
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not current_developer(request).is_developer:
            raise PermissionDenied("The portal is for developers. Your account has another role.")
        if request.method == "POST":
            limits.count_request(current_developer(request))
        return view(request, *args, **kwargs)

    return guarded


def app_page(view: Page) -> Page:
    """A page for the developer of the app in the URL. Passes the app to the view; answers 404 for another's app."""

    @developer_page
    @wraps(view)
    def with_app(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, own_app_by_slug(current_developer(request), slug), *args, **kwargs)

    return with_app


def current_developer(request: HttpRequest) -> User:
    """The signed-in user, behind `developer_page`."""
    return cast(User, request.user)
