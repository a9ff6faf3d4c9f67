"""The log of reviews. It is shown to those who may see it, and changed by nobody."""

from django.contrib import admin

from common.admin import ReadOnly
from marketplace.models import ReviewEntry


@admin.register(ReviewEntry)
class ReviewEntryAdmin(ReadOnly, admin.ModelAdmin):
    change_list_template = "admin/review/list.html"
    search_help_text = "App, its slug, who acted, or a word of the note"
    list_display = ["at", "kind", "app", "submission", "actor_name", "note"]
    list_filter = ["kind"]
    list_select_related = ["app", "submission__app", "actor"]
    search_fields = ["app__name", "app__slug", "actor__email", "note"]
    ordering = ["-at", "-id"]
    show_full_result_count = False
    fields = ["at", "kind", "app", "submission", "actor_name", "note"]

    @admin.display(description="by")
    def actor_name(self, entry: ReviewEntry) -> str:
        return entry.actor.name if entry.actor else ""
