"""The queue "changed since approval": manifests that reach further than what was approved (contract section 6)."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from common.admin import ReadOnly
from developers.admin.access import context, current_user, find_flag, flag_page
from developers.review.reviewers import MAY_SUSPEND
from developers.templatetags.review import since
from extensions.manifest.differences import manifest_differences
from extensions.models import ApprovedManifest, ManifestFlag, ManifestSave
from extensions.services.manifests import put_aside

LIST = "admin:extensions_manifestflag_changelist"


class SeenFilter(admin.SimpleListFilter):
    """The open ones, where the address says nothing else."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("seen", "Put aside")]

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        return [{**first, "display": "To look at"}, *others]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(seen_at__isnull=self.value() != "seen")


@admin.register(ManifestFlag)
class ManifestFlagAdmin(ReadOnly, admin.ModelAdmin):
    change_list_template = "admin/review/list.html"
    list_display = ["app", "raised", "developer", "why", "seen"]
    list_filter = [SeenFilter]
    list_select_related = ["app__developer", "seen_by"]
    search_fields = ["app__name", "app__slug", "app__developer__email", "app__developer__name"]
    search_help_text = "App or developer"
    ordering = ["raised_at", "id"]
    show_full_result_count = False
    sortable_by = ()

    def get_urls(self) -> list[URLPattern]:
        aside = path("<path:object_id>/aside/", aside_page, name="extensions_manifestflag_aside")
        return [aside, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": "Changed since approval"})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied("Your account may not see this. An administrator can let you.")
        return show(request, find_flag(object_id))

    @admin.display(description="changed")
    def raised(self, flag: ManifestFlag) -> SafeString:
        return since(flag.raised_at)

    @admin.display(description="developer")
    def developer(self, flag: ManifestFlag) -> str:
        return flag.app.developer.name

    @admin.display(description="why it is here")
    def why(self, flag: ManifestFlag) -> SafeString:
        return format_html_join(SafeString("<br>"), "{}", ((reason,) for reason in flag.reasons))

    @admin.display(description="put aside")
    def seen(self, flag: ManifestFlag) -> str:
        return f"By {flag.seen_by.name}" if flag.seen_by else "No"


def show(request: HttpRequest, flag: ManifestFlag) -> HttpResponse:
    """Against the save before it, and against what was approved."""
    saves = ManifestSave.objects.filter(app=flag.app)
    earlier = saves.filter(pk__lt=flag.save_of.pk).order_by("-pk").first()
    approved = ApprovedManifest.objects.filter(version=flag.app.approved_version_id).first()
    document = flag.save_of.document
    values = {
        "flag": flag,
        "app": flag.app,
        "is_in_force": not saves.filter(pk__gt=flag.save_of.pk).exists(),
        "by_save": manifest_differences(earlier.document if earlier else {}, document),
        "since_approval": manifest_differences(approved.document if approved else {}, document),
        "may_suspend": current_user(request).has_perm(MAY_SUSPEND),
    }
    return render(
        request, "admin/review/flag.html", context(request, f"{flag.app}: changed since approval", **values)
    )


@flag_page
@require_POST
def aside_page(request: HttpRequest, flag: ManifestFlag) -> HttpResponse:
    put_aside(flag=flag, reviewer=current_user(request))
    messages.success(request, f"The change of {flag.app} is put aside.")
    return redirect(LIST)
