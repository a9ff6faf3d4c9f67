"""The page of an app, and suspending it and lifting that: what it does is said before it is done."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.errors import Conflict
from developers.admin.access import app_page, context, current_user
from developers.admin.forms import SuspensionForm
from developers.review import consequences
from developers.review.reviewers import MAY_SUSPEND
from extensions.manifest.content import definitions_in
from extensions.models import ManifestFlag, ManifestSave
from extensions.queries import manifest_document
from installations.models import Installation
from marketplace.models import App
from marketplace.services import reviews

UNPROCESSABLE = 422
PAGE = "admin:marketplace_app_change"
SAVES = 20  # of the manifest, that the page of an app shows
METHODS = ["GET", "HEAD", "POST"]


def show(request: HttpRequest, app: App) -> HttpResponse:
    """An app with its reviews, for all who may see apps."""
    installed = Installation.objects.active().filter(app=app)
    values = {
        "app": app,
        "may_suspend": current_user(request).has_perm(MAY_SUSPEND),
        "added": list(definitions_in(manifest_document(app))),
        "flags": ManifestFlag.objects.filter(app=app, seen_at=None).order_by("raised_at"),
        "saves": ManifestSave.objects.filter(app=app).select_related("saved_by").order_by("-id")[:SAVES],
        "installs": installed.filter(is_test=False).count(),
        "tests": installed.filter(is_test=True).count(),
        "submissions": app.submissions.select_related("reviewer").order_by("-submitted_at", "-id"),
        "log": app.review_log.select_related("actor", "submission").order_by("-at", "-id"),
    }
    return render(request, "admin/review/app.html", context(request, app.name, **values))


@app_page
@require_http_methods(METHODS)
def suspend(request: HttpRequest, app: App) -> HttpResponse:
    form = SuspensionForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        reviews.suspend(app=app, reviewer=current_user(request), reason=form.cleaned_data["reason"])
        messages.success(request, f"{app} is suspended.")
        return redirect(PAGE, app.pk)
    if app.suspended_at is not None:
        raise Conflict("The app is suspended already.")
    values = context(
        request, f"Suspend {app}", app=app, form=form, follows=list(consequences.of_suspension(app))
    )
    return render(
        request, "admin/review/suspend.html", values, status=UNPROCESSABLE if form.is_bound else 200
    )


@app_page
@require_http_methods(METHODS)
def reinstate(request: HttpRequest, app: App) -> HttpResponse:
    if request.method == "POST":
        reviews.reinstate(app=app, reviewer=current_user(request))
        messages.success(request, f"The suspension of {app} is lifted.")
        return redirect(PAGE, app.pk)
    if app.suspended_at is None:
        raise Conflict("The app is not suspended.")
    values = context(
        request, f"Lift the suspension of {app}", app=app, follows=list(consequences.of_reinstatement(app))
    )
    return render(request, "admin/review/reinstate.html", values)
