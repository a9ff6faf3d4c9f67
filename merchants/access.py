"""Decides who may open a page under `/merchant/`, and which business it shows.

A merchant sees one business at a time, which the session remembers. A developer sees their sandbox store, and a reviewer
the test store on which apps in review are tried. Times are in
the time zone of the business.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from accounts.models import Business, User
from common.db.finders import get_or_not_found
from common.ids import parse_id
from installations.queries import own_installation
from merchants.installed.app import InstalledApp, apps_in
from merchants.store.queries import with_orders_to_confirm

Page = Callable[..., HttpResponse]
SESSION_KEY = "business"


class MerchantRequest(HttpRequest):
    """A request that passed `merchant_page`. The layout of these pages reads all of it.

    `businesses` are the person's, the main one first, and `apps` those of the one that is shown.
    """

    user: User
    businesses: list[Business]
    business: Business
    apps: list[InstalledApp]


def merchant_area(view: Page) -> Page:
    """For merchants and developers, and reviewers with a test store. Visitors are sent to sign in, others get a 403.

    The request's `business` is None for a merchant who has none yet.
    """

    @login_required
    @wraps(view)
    def guarded(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.businesses = list(
            with_orders_to_confirm(Business.objects.owned_by(request.user).main_first())
        )
        business = _current_business(request)
        if business is None and not request.user.is_merchant:
            raise PermissionDenied(
                "Only merchants and developers can open these pages. Sign in with another account."
            )
        with timezone.override(None):
            _show(request, business)
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
    read = next(
        (each for each in request.businesses if each == business), business
    )  # with its number of orders
    _show(request, read)
    request.session[SESSION_KEY] = str(business.pk)


def own_business(user: User, business_id: object) -> Business:
    """Raises `NotFound` for another person's business and for an invalid id."""
    return get_or_not_found(Business.objects.owned_by(user), business_id, "Business not found")


def _show(request: MerchantRequest, business: Business | None) -> None:
    """Its apps are read once, by the first view or template that needs them."""
    request.business = cast(Business, business)
    if business:
        request.apps = cast(list[InstalledApp], SimpleLazyObject(partial(apps_in, business)))
        timezone.activate(business.timezone)


def _current_business(request: MerchantRequest) -> Business | None:
    """The one that the session remembers, or the main one."""
    main = next(iter(request.businesses), None)
    known = request.session.get(SESSION_KEY)
    return next((each for each in request.businesses if str(each.pk) == known), main)


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


def app_page(view: Page) -> Page:
    """Like `active_page`, but the view gets an `InstalledApp`, with what all pages of the app show."""

    @merchant_page
    @wraps(view)
    def with_app(request: MerchantRequest, installation_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        app = _app_among(request, installation_id)
        if app is None:
            installation = own_installation(request.user, installation_id)
            if installation.is_active:
                switch_to(request, installation.business)
            app = _app_among(request, installation_id)
        return view(request, app, *args, **kwargs) if app else redirect("merchants:receipt", installation_id)

    return with_app


def _app_among(request: MerchantRequest, installation_id: str) -> InstalledApp | None:
    """Of the store that is shown now."""
    known_id = parse_id(installation_id)
    return next((each for each in request.apps if each.installation.pk == known_id), None)
