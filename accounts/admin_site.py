"""The administration, for staff who have a second factor and, before they change something, prove again who they are."""

import re
from functools import wraps
from typing import Any, Final, cast

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import resolve

from common import places
from common.places import Work

# The pages whose forms work without a fresh proof, by the names of their URLs. A page that isn't here asks for one.
FREE: Final = frozenset(
    {
        "logout",
        "password_change",  # these lead to our own page, which asks for the current password
        "password_change_done",
        # A reviewer's everyday work. Approving and suspending apps ask.
        "marketplace_submission_take",
        "marketplace_submission_release",
        "marketplace_submission_findings",
        "marketplace_submission_message",
        "marketplace_submission_install",
        "marketplace_submission_uninstall",
        "marketplace_submission_reject",
    }
)
_NO_DATE: Final = re.compile(r"out of range|too large to convert")
SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS", "TRACE")


class StaffConfig(AdminConfig):
    """`django.contrib.admin` with the site below. Its own module would be too early to import models."""

    default_site = "accounts.admin_site.StaffSite"


class StaffSite(AdminSite):
    """Leads staff who need a second factor and have none to the page where they set one up, and asks for a fresh proof
    before every change."""

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        from accounts.models import User  # models aren't loaded yet at the top
        from accounts.services.second_factor import must_set_up
        from accounts.sign_in.step_up import step_up
        from common.web.forms.kept import require_same_person, to_sign_in

        inner = _with_possible_dates(super().admin_view(view, cacheable))
        asking = step_up(inner)

        @wraps(inner)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            user = request.user
            if request.method == "POST" and not user.is_authenticated:
                return to_sign_in(request)
            require_same_person(request)
            if not isinstance(user, User) or not self.has_permission(request):
                return cast(HttpResponse, inner(request, *args, **kwargs))
            if must_set_up(user):
                messages.warning(
                    request, "Set up a second factor first. The administration opens once you have one."
                )
                return redirect("mfa_index")
            if "q" in request.GET:
                places.require(Work.SEARCH)
            request.in_administration = True  # type: ignore[attr-defined]  # for `accounts.receivers`
            allowed = inner if _is_free(request) else asking
            return cast(HttpResponse, allowed(request, *args, **kwargs))

        return guarded

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """To the page that everybody has: it limits guesses, and tells the person."""
        return redirect("account_change_password")

    password_change_done = password_change


def _with_possible_dates(view: Any) -> Any:
    """Django's lists accept each field as a filter, and notice only in the statement that no such date can be."""

    @wraps(view)
    def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return view(request, *args, **kwargs)
        except (ValueError, OverflowError) as error:
            if request.method in SAFE_METHODS and request.GET and _NO_DATE.search(str(error)):
                raise BadRequest from error
            raise

    return answered


def _is_free(request: HttpRequest) -> bool:
    if request.method in SAFE_METHODS:
        return True
    # Also after a proof, when the request was the proof's own.
    request.resolver_match = resolve(request.path_info)
    return request.resolver_match.url_name in FREE
