"""Which installation a merchant's page is about: decided here, once."""

from functools import wraps
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect

from accounts.merchant_pages import MerchantRequest, Page, merchant_page, switch_to
from installations.queries import own_installation


def installation_page(view: Page) -> Page:
    """For the owner of the business; the view gets the installation, ended ones too. Another's is a 404.

    An installation on another business of the same person switches the pages to that business.
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
    """As `installation_page`, for what only an installed app has: once it has ended, its receipt is shown."""

    @installation_page
    @wraps(view)
    def with_active(request: MerchantRequest, installation: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if not installation.is_active:
            return redirect("merchant:receipt", installation.pk)
        return view(request, installation, *args, **kwargs)

    return with_active
