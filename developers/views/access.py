"""Who may open a page of the portal: decided here, once."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from accounts.models import User
from developers.queries import own_app_by_slug

Page = Callable[..., HttpResponse]


def developer_page(view: Page) -> Page:
    """For developers: others are sent to sign in, or told that this is not theirs (403)."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not current_developer(request).is_developer:
            raise PermissionDenied("The portal is for developers. Your account has another role.")
        return view(request, *args, **kwargs)

    return guarded


def app_page(view: Page) -> Page:
    """For the developer of the app that the address names; the view gets the app. Another's is a 404."""

    @developer_page
    @wraps(view)
    def with_app(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        return view(request, own_app_by_slug(current_developer(request), slug), *args, **kwargs)

    return with_app


def current_developer(request: HttpRequest) -> User:
    """Who asks, behind `developer_page`."""
    return cast(User, request.user)
