"""Who may open a page that reviews or suspends, and what it gets: decided here, once."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts.models import User
from common.errors import Conflict, NotFound
from common.ids import parse_id
from developers.review.reviewers import MAY_REVIEW, MAY_SUSPEND
from extensions.models import ManifestFlag
from marketplace.models import App, Submission

Row = TypeVar("Row", bound=Model)
Page = Callable[..., HttpResponse]


def submission_page(view: Page) -> Page:
    """For reviewers; the view gets the submission that the address names.

    What the state of things forbids leads back to the submission's page, which shows how it stands, and says so.
    """
    return _page(view, MAY_REVIEW, find_submission, "admin:marketplace_submission_change")


def app_page(view: Page) -> Page:
    """For those who may suspend; the view gets the app that the address names. A refusal leads to its page."""
    return _page(view, MAY_SUSPEND, find_app, "admin:marketplace_app_change")


def flag_page(view: Page) -> Page:
    """For those who may suspend; the view gets the change since approval that the address names."""
    return _page(view, MAY_SUSPEND, find_flag, "admin:extensions_manifestflag_change")


def _page(view: Page, right: str, find: Callable[[str], Row], home: str) -> Page:
    @wraps(view)
    def guarded(request: HttpRequest, object_id: str) -> HttpResponse:
        if not current_user(request).has_perm(right):
            raise PermissionDenied("Your account may not do this. An administrator can let you.")
        row = find(object_id)
        try:
            return view(request, row)
        except Conflict as error:
            messages.error(request, error.message)
            return redirect(home, row.pk)

    return cast(Page, admin.site.admin_view(guarded))


def find_submission(submission_id: str) -> Submission:
    """With what its page reads. Raises `NotFound`."""
    rows = Submission.objects.select_related(
        "app__approved_version", "app__developer", "app__icon", "reviewer"
    )
    return _found(rows, submission_id)


def find_app(app_id: str) -> App:
    """Raises `NotFound`, for one that its developer has deleted too."""
    return _found(App.objects.live().select_related("approved_version", "developer"), app_id)


def find_flag(flag_id: str) -> ManifestFlag:
    """Raises `NotFound`."""
    rows = ManifestFlag.objects.select_related(
        "app__developer", "app__approved_version", "save_of__saved_by", "seen_by"
    )
    return _found(rows, flag_id)


def _found(rows: "QuerySet[Row]", row_id: str) -> Row:
    parsed = parse_id(row_id)
    row = rows.filter(pk=parsed).first() if parsed else None
    if row is None:
        raise NotFound(f"There is no such {rows.model._meta.verbose_name}.")
    return row


def current_user(request: HttpRequest) -> User:
    """Who asks, behind `admin_view`."""
    return cast(User, request.user)


def context(request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
    """What the administration's layout reads, and what a page adds."""
    return {**admin.site.each_context(request), "title": title, **more}
