"""Apps in the administration: to look at, and to suspend. Named in `OAUTH2_PROVIDER` in the settings, since the
library registers the model of its clients itself."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString

from common.admin import ReadOnly
from common.templatetags.ui import moment
from developers.admin import suspension
from developers.admin.access import find_app
from marketplace.models import App


class ListedFilter(admin.SimpleListFilter):
    title = "marketplace"
    parameter_name = "marketplace"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("listed", "Listed"), ("suspended", "Suspended"), ("never", "Never approved")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        match self.value():
            case "listed":
                return queryset.filter(approved_version__isnull=False, suspended_at=None)
            case "suspended":
                return queryset.filter(suspended_at__isnull=False)
            case "never":
                return queryset.filter(approved_version=None)
        return queryset


class AppAdmin(ReadOnly, admin.ModelAdmin):
    change_list_template = "admin/review/list.html"
    list_display = ["name", "slug", "developer_name", "status", "listed", "updated"]
    list_filter = [ListedFilter, "status", "category"]
    list_select_related = ["developer"]
    search_fields = ["name", "slug", "developer__email", "developer__name"]
    search_help_text = "Name or slug of an app, or its developer"
    ordering = ["-updated_at", "-id"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[App]:
        return super().get_queryset(request).filter(deleted_at=None)

    def get_urls(self) -> list[URLPattern]:
        acts = {"suspend": suspension.suspend, "reinstate": suspension.reinstate}
        return [
            path(f"<path:object_id>/{name}/", view, name=f"marketplace_app_{name}")
            for name, view in acts.items()
        ] + super().get_urls()

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """To look at: what is changed here is changed on pages of its own."""
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied("An app is changed by its developer.")
        return suspension.show(request, find_app(object_id))

    @admin.display(description="developer", ordering="developer__name")
    def developer_name(self, app: App) -> str:
        return str(app.developer)

    @admin.display(description="listed", boolean=True)
    def listed(self, app: App) -> bool:
        return app.is_listed

    @admin.display(description="changed", ordering="updated_at")
    def updated(self, app: App) -> SafeString:
        return SafeString(moment(app.updated_at))
