"""Who may open a page under `/merchant/`, and which business it shows: decided here, once, for every room.

A merchant sees one business at a time, kept in the session; a developer sees the own sandbox. Times on these pages
are in the business's time zone.
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
from common.errors import NotFound
from common.ids import parse_id

Page = Callable[..., HttpResponse]
SESSION_KEY = "business"


class MerchantRequest(HttpRequest):
    """A request behind `merchant_page`. The layout of these pages reads `business`, too."""

    user: User
    business: Business


def merchant_area(view: Page) -> Page:
    """For merchants and developers: others are sent to sign in, or told that this is not theirs (403).

    The request's `business` is None where a merchant has none yet.
    """

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        user = cast(User, request.user)
        if not (user.is_merchant or user.is_developer):
            raise PermissionDenied("These pages are for merchants. Your account has another role.")
        with timezone.override(None):
            business = _current_business(request, user)
            cast(MerchantRequest, request).business = cast(Business, business)
            if business:
                timezone.activate(business.timezone)
            return view(request, *args, **kwargs)

    return guarded


def merchant_page(view: Page) -> Page:
    """As `merchant_area`, with a business: a merchant who has none opens one first."""

    @merchant_area
    @wraps(view)
    def with_business(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.business is None:
            return redirect("merchant:business_add")
        return view(request, *args, **kwargs)

    return with_business


def merchants_only(view: Page) -> Page:
    """For merchants alone: a developer has one shop, the sandbox."""

    @merchant_area
    @wraps(view)
    def guarded(request: MerchantRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_merchant:
            raise PermissionDenied("Businesses are for merchants. A developer has one shop: the sandbox.")
        return view(request, *args, **kwargs)

    return guarded


def switch_to(request: MerchantRequest, business: Business) -> None:
    """Show this business from now on. The caller has seen to it that it is the person's own."""
    request.business = business
    request.session[SESSION_KEY] = str(business.pk)
    timezone.activate(business.timezone)


def own_business(user: User, business_id: object) -> Business:
    """Raises `NotFound`: another's business, or no id at all."""
    known_id = parse_id(business_id)
    found = Business.objects.owned_by(user).filter(pk=known_id).first() if known_id else None
    if found is None:
        raise NotFound("Business not found")
    return found


def _current_business(request: HttpRequest, user: User) -> Business | None:
    try:
        return own_business(user, request.session.get(SESSION_KEY))
    except NotFound:
        return Business.objects.main_of(user)
