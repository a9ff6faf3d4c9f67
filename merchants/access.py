"""Decides who may open a page under `/merchant/`, and which business it shows.

A merchant sees one business at a time, which the session remembers. A developer sees their sandbox store, and a reviewer
the test store on which apps in review are tried. Times are in
the time zone of the business.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from accounts.models import Business, User
from common.db.finders import get_or_not_found
from common.errors import NotFound
from installations.queries import own_installation

Page = Callable[..., HttpResponse]
SESSION_KEY = "business"


class MerchantRequest(HttpRequest):
    """A request that passed `merchant_page`. The layout of these pages also reads `business`."""

    user: User
    business: Business


def merchant_area(view: Page) -> Page:
    """For merchants and developers, and reviewers with a test store. Visitors are sent to sign in, others get a 403.

    The request's `business` is None for a merchant who has none yet.
    """

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user = cast(User, request.user)
        with timezone.override(None):
            business = _current_business(request, user)
            if business is None and not user.is_merchant:
                raise PermissionDenied(
                    "Only merchants and developers can open these pages. Sign in with another account."
                )
            cast(MerchantRequest, request).business = cast(Business, business)
            if business:
                timezone.activate(business.timezone)
            return view(request, *args, **kwargs)

    return guarded


def merchant_page(view: Page) -> Page:
    """Like `merchant_area`, but a merchant without a business is sent to add one."""

    @merchant_area
    @wraps(view)
    def with_business(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.business is None:
            return redirect("merchants:business_add")
        return view(request, *args, **kwargs)

    return with_business


def merchants_only(view: Page) -> Page:
    """For merchants only: a developer has one store, the sandbox."""

    @merchant_area
    @wraps(view)
    def guarded(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_merchant:
            raise PermissionDenied(
                "Only merchants have several businesses. A developer has one store, the sandbox."
            )
        return view(request, *args, **kwargs)

    return guarded


def switch_to(request: MerchantRequest, business: Business) -> None:
    """Show this business from now on. The caller has checked that the person owns it."""
    request.business = business
    request.session[SESSION_KEY] = str(business.pk)
    timezone.activate(business.timezone)


def own_business(user: User, business_id: object) -> Business:
    """Raises `NotFound` for another person's business and for an invalid id."""
    return get_or_not_found(Business.objects.owned_by(user), business_id, "Business not found")


def _current_business(request: HttpRequest, user: User) -> Business | None:
    try:
        return own_business(user, request.session.get(SESSION_KEY))
    except NotFound:
        return Business.objects.main_of(user)


def installation_page(view: Page) -> Page:
    """Passes the installation in the URL to the view, ended ones too. Another owner's is a 404.

    The pages switch to the installation's business.
    """

    @merchant_page
    @wraps(view)
    def with_installation(
        request: MerchantRequest, installation_id: str, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        installation = own_installation(request.user, installation_id)
        if installation.business_id != request.business.pk:
            switch_to(request, installation.business)
        return view(request, installation, *args, **kwargs)

    return with_installation


def active_page(view: Page) -> Page:
    """Like `installation_page`, but an ended installation redirects to its receipt."""

    @installation_page
    @wraps(view)
    def with_active(request: MerchantRequest, installation: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not installation.is_active:
            return redirect("merchants:receipt", installation.pk)
        return view(request, installation, *args, **kwargs)

    return with_active
