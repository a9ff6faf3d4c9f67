"""Access to the pages that review and suspend: decided here, once for all."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from common.db.rows import get_or_not_found
from common.errors import Conflict
from common.web.forms.pages import refusals_shown
from developers.review.reviewers import MAY_REVIEW, MAY_SUSPEND
from marketplace.models import App, Submission

Row = TypeVar("Row", bound=Model)
Page = Callable[..., HttpResponse]


def submission_page(view: Page) -> Page:
    """A page for reviewers. Passes the submission in the URL to the view.

    If the view raises `Conflict`, redirects to the submission's page and shows the message there.
    """
    return _page(view, MAY_REVIEW, find_submission, "admin:marketplace_submission_change")


def app_page(view: Page) -> Page:
    """A page for users who may suspend. Passes the app in the URL to the view. `Conflict` redirects to the app's page."""
    return _page(view, MAY_SUSPEND, find_app, "admin:marketplace_app_change")


def _page(view: Page, permission: str, find: Callable[[str], Row], home: str) -> Page:
    @wraps(view)
    def guarded(request: HttpRequest, object_id: str) -> HttpResponse:
        if not current_user(request).has_perm(permission):
            raise PermissionDenied("Your account doesn't have permission to do this. Ask an administrator.")
        row = find(object_id)
        with refusals_shown(request, Conflict):
            return view(request, row)
        return redirect(home, row.pk)

    guarded.shows_forms_again = True  # type: ignore[attr-defined]
    return cast(Page, admin.site.admin_view(guarded))


def find_submission(submission_id: str) -> Submission:
    """A submission with everything its page reads. Raises `NotFound`."""
    rows = Submission.objects.select_related(
        "app__approved_version", "app__developer", "app__icon", "reviewer"
    )
    return get_or_not_found(rows, submission_id, "Submission not found")


def find_app(app_id: str) -> App:
    """Raises `NotFound`, also for an app that its developer has deleted."""
    rows = App.objects.live().select_related("approved_version", "developer")
    return get_or_not_found(rows, app_id, "App not found")


def current_user(request: HttpRequest) -> User:
    """The signed-in user, behind `admin_view`."""
    return cast(User, request.user)


def context(request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
    """Template values: those that the admin's layout needs, and the page's own."""
    return {**admin.site.each_context(request), "title": title, **more}
