"""The administration, for staff who have a second factor."""

from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


class StaffConfig(AdminConfig):
    """`django.contrib.admin` with the site below. Its own module would be too early to import models."""

    default_site = "accounts.admin_site.StaffSite"


class StaffSite(AdminSite):
    """Leads staff who need a second factor and have none to the page where they set one up."""

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        from accounts.models import User  # models aren't loaded yet at the top
        from accounts.services.second_factor import must_set_up

        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            user = request.user
            if isinstance(user, User) and self.has_permission(request) and must_set_up(user):
                messages.warning(
                    request, "Set up a second factor first. The administration opens once you have one."
                )
                return redirect("mfa_index")
            response: HttpResponse = inner(request, *args, **kwargs)
            return response

        return guarded
