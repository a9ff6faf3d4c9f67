"""Apps in the admin: their pages, and suspending them.

The OAuth library registers the model of its clients itself, so `OAUTH2_PROVIDER` in the settings names `AppAdmin`.
"""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods

from common.errors import Conflict
from common.web.admin import ReadOnly
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, may_save
from common.web.methods import GET_OR_POST
from conformance.queries import broken_rules, last_weekly_run, weekly_check_of
from developers.review import decision_effects
from developers.review.admin.access import app_page, context, current_user, find_app
from developers.review.admin.forms import SuspensionForm
from developers.review.reviewers import MAY_SUSPEND
from extensions.manifest.content import definitions_in
from extensions.models import ManifestSave
from extensions.queries import manifest_document
from extensions.services.scripts import scripts_of
from installations.models import Installation
from marketplace.enums import ReleaseState
from marketplace.models import App
from marketplace.queries import release_of
from marketplace.services import reviews
from marketplace.services.members import MEMBERS

PAGE = "admin:marketplace_app_change"
MAX_SAVES = 20  # of the manifest, on an app's page


class ListedFilter(admin.SimpleListFilter):
    title = "marketplace"
    parameter_name = "marketplace"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("listed", "Listed"),
            ("halted", "Release halted"),
            ("suspended", "Suspended"),
            ("never", "Never approved"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "listed":
                return queryset.filter(approved_version__isnull=False, suspended_at=None)
            case "halted":
                return queryset.filter(rolling_version__release__state=ReleaseState.HALTED)
            case "suspended":
                return queryset.filter(suspended_at__isnull=False)
            case "never":
                return queryset.filter(approved_version=None)
        return queryset


class AppAdmin(ReadOnly, admin.ModelAdmin):
    change_list_template = "developers/review/apps.html"
    list_display = ["__str__"]  # the template shows the rows
    list_filter = [ListedFilter, "status", "category"]
    list_select_related = ["developer"]
    search_fields = ["name", "slug", "developer__email", "developer__name"]
    search_help_text = "App, slug or developer"
    ordering = ["-updated_at", "-id"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[App]:
        return super().get_queryset(request).filter(deleted_at=None)

    def get_urls(self) -> list[URLPattern]:
        actions = {"suspend": suspend, "reinstate": lift_suspension}
        return [
            path(f"<path:object_id>/{name}/", view, name=f"marketplace_app_{name}")
            for name, view in actions.items()
        ] + super().get_urls()

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Read-only. Suspending has its own page."""
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied("Only its developer can change an app.")
        return show(request, find_app(object_id))


def show(request: HttpRequest, app: App) -> HttpResponse:
    """The page of an app, for everyone who may see apps."""
    installed = Installation.objects.active().filter(app=app)
    values = {
        "app": app,
        "release": release_of(app),
        "may_suspend": current_user(request).has_perm(MAY_SUSPEND),
        "added": list(definitions_in(manifest_document(app))),
        "saves": ManifestSave.objects.filter(app=app).select_related("saved_by").order_by("-id")[:MAX_SAVES],
        "installs": installed.filter(is_test=False).count(),
        "tests": installed.filter(is_test=True).count(),
        "members": MEMBERS.people_of(app),
        "submissions": app.submissions.select_related("reviewer").order_by("-submitted_at", "-id"),
        "weekly": _weekly(app),
        "scripts": [(each, each.changes.order_by("-id")[:MAX_SAVES]) for each in scripts_of(app)],
        "log": app.review_log.select_related("actor", "submission").order_by("-at", "-id"),
    }
    return render(request, "developers/review/app.html", context(request, app.name, **values))


def _weekly(app: App) -> dict[str, Any] | None:
    """The last weekly check; None before the first one."""
    row = weekly_check_of(app)
    if row is None or row.checked_at is None:
        return None
    return {"row": row, "broken": broken_rules(row, last_weekly_run(app))}


@app_page
@require_http_methods(GET_OR_POST)
def suspend(request: HttpRequest, app: App) -> HttpResponse:
    form = SuspensionForm(typed(request))
    if may_save(request, form):
        reviews.suspend(app=app, reviewer=current_user(request), reason=form.cleaned_data["reason"])
        return done(request, f"{app} is suspended.", PAGE, app.pk)
    if app.suspended_at is not None:
        raise Conflict("The app is already suspended.")
    effects = list(decision_effects.of_suspension(app))
    values = context(request, f"Suspend {app}", app=app, form=form, effects=effects)
    return form_page(request, "developers/review/suspend.html", values)


@app_page
@require_http_methods(GET_OR_POST)
def lift_suspension(request: HttpRequest, app: App) -> HttpResponse:
    if request.method == "POST":
        reviews.reinstate(app=app, reviewer=current_user(request))
        messages.success(request, f"The suspension of {app} is lifted.")
        return redirect(PAGE, app.pk)
    if app.suspended_at is None:
        raise Conflict("The app is not suspended.")
    effects = list(decision_effects.of_lifted_suspension(app))
    values = context(request, f"Lift the suspension of {app}", app=app, effects=effects)
    return render(request, "developers/review/lift_suspension.html", values)
