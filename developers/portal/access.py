"""Access to the portal's pages: decided here, once for all."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Final, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from common.templatetags.links import address
from common.web.forms.kept import count_form, signed_in
from developers.portal.navigation import Place
from marketplace.access import require_role
from marketplace.enums import AppRole
from marketplace.models import App
from marketplace.queries import names_of_own_apps, own_app_and_others, own_app_by_slug

OTHER_APPS: Final = 12  # newest first; the list of apps has a search
Page = Callable[..., HttpResponse]


def developer_page(view: Page) -> Page:
    """A page for developers. Redirects to sign-in without a session; answers 403 to other roles."""

    @signed_in
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not current_developer(request).is_developer:
            raise PermissionDenied("The portal is for developers. Your account has another role.")
        if request.method == "POST":
            count_form(request)
        return view(request, *args, **kwargs)

    return guarded


def app_page(view: Page) -> Page:
    """A page for the members of the app in the URL. Passes the app to the view; answers 404 for everybody else.

    Every member may look, and who may develop the app may send the page's forms.
    """
    return page_for(reads=AppRole.VIEWER, writes=AppRole.DEVELOPER)(view)


def page_for(*, reads: AppRole, writes: AppRole) -> Callable[[Page], Page]:
    """Like `app_page`, for members with at least these roles: to look, and to send forms. Others get a 403 that names their role.

    Templates read the role as `request.app_role`, where they are as `request.place`, and the person's other apps as `request.other_apps`.
    """

    def decorate(view: Page) -> Page:
        @developer_page
        @wraps(view)
        def with_app(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
            person = current_developer(request)
            app, others = _found(request, person, slug)
            role = require_role(app, person, writes if request.method == "POST" else reads)
            enter_app(request, app, role, others)
            return view(request, app, *args, **kwargs)

        return with_app

    return decorate


computing_page = page_for(reads=AppRole.VIEWER, writes=AppRole.VIEWER)
"""An `app_page` whose form only computes."""
developers_page = page_for(reads=AppRole.DEVELOPER, writes=AppRole.DEVELOPER)
owners_page = page_for(reads=AppRole.OWNER, writes=AppRole.OWNER)


def _found(request: HttpRequest, person: User, slug: str) -> tuple[App, Sequence[tuple[str, str]] | None]:
    """A whole page names the person's other apps. A part of one doesn't, nor do most answers to forms."""
    if request.method == "GET" and "part" not in request.GET:
        return own_app_and_others(person, slug, most=OTHER_APPS)
    return own_app_by_slug(person, slug), None


def enter_app(
    request: HttpRequest, app: App, role: str, others: Sequence[tuple[str, str]] | None = None
) -> None:
    """Make the page that is rendered for this request one of the app's. `others` are read if they aren't known."""
    request.layout = "developers/portal/layout.html"  # type: ignore[attr-defined]
    request.app_role = role  # type: ignore[attr-defined]
    request.other_apps = SimpleLazyObject(lambda: _other_apps(request, app, others))  # type: ignore[attr-defined]
    request.place = SimpleLazyObject(lambda: _place(request, app, role))  # type: ignore[attr-defined]


def _place(request: HttpRequest, app: App, role: str) -> Place:
    """Asked where it is rendered: `step_up` may match the request again before that."""
    route = request.resolver_match.url_name if request.resolver_match else None
    return Place(app, role, route or "", request.path)


def current_developer(request: HttpRequest) -> User:
    """The signed-in user, behind `developer_page`."""
    return cast(User, request.user)


# The switcher of apps: from a page of one app to the same page of another.


def _other_apps(
    request: HttpRequest, app: App, others: Sequence[tuple[str, str]] | None
) -> list[tuple[str, str]]:
    """Names and links, made where a template shows them."""
    match = request.resolver_match
    is_of_all = match is not None and request.method == "GET" and set(match.kwargs) == {"slug"}
    name = match.view_name if match and is_of_all else "portal:app"
    if others is None:
        others = names_of_own_apps(cast(User, request.user), without=app, most=OTHER_APPS)
    return [(title, address(name, slug)) for title, slug in others]
