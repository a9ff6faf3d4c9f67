"""Apps in the admin: to look at. The review pages belong to `developers`."""

from django.contrib import admin
from django.http import HttpRequest

from marketplace.models import App


class AppAdmin(admin.ModelAdmin):
    list_display = ["name", "slug", "developer", "status", "is_listed", "updated_at"]
    list_filter = ["status", "category"]
    search_fields = ["name", "slug", "developer__email"]
    exclude = ["client_secret"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: App | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: App | None = None) -> bool:
        return False
