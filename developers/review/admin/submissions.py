"""The review queue, the URLs of a submission's actions, and the review log."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString

from common.templatetags.ui import moment
from common.web.admin import ReadOnly
from conformance.queries import not_passing, rules_of
from developers.review import submissions
from developers.review.admin import decisions
from developers.review.admin.access import current_user
from developers.review.reviewers import MAY_REVIEW
from extensions.services.scripts import changed_lately
from marketplace.models import ReviewEntry, Submission
from marketplace.queries import REVIEW_DUE, median_wait, queue_order, with_unanswered

MOST_OF_LISTED = 50
CHANGES_SHOWN_FOR = timedelta(days=7)


class TabFilter(admin.SimpleListFilter):
    """The tabs above the queue. The default is "waiting"."""

    title = "state"
    parameter_name = "state"
    template = "developers/review/tabs.html"
    rows: dict[str, Q] = {
        "waiting": submissions.WAITING,
        "held": submissions.HELD,
        "decided": submissions.DECIDED,
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("waiting", "Waiting"), ("held", "In review"), ("decided", "Decided")]

    def value(self) -> str:
        given = super().value()
        return given if given in self.rows else "waiting"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(self.rows[self.value()])

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]
        counts = submissions.counts()
        for name, label in self.lookup_choices:
            yield {
                "selected": name == self.value(),
                "query_string": changelist.get_query_string({self.parameter_name: name}),
                "display": label,
                "count": counts.get(str(name)),
            }


def tab_of(request: HttpRequest) -> str:
    given = request.GET.get(TabFilter.parameter_name, "")
    return given if given in TabFilter.rows else "waiting"


def _of_listed_apps() -> dict[str, Any]:
    """Listed apps that have failed their weekly checks, with the rules, which leave the queue when they pass; and scripts
    that changed in the last days.
    """
    return {
        "not_passing": [(row, rules_of(row.failed_rules)) for row in not_passing()[:MOST_OF_LISTED]],
        "changed_scripts": changed_lately(timezone.now() - CHANGES_SHOWN_FOR)[:MOST_OF_LISTED],
        "days_of_changes": CHANGES_SHOWN_FOR.days,
    }


@admin.register(Submission)
class SubmissionAdmin(ReadOnly, admin.ModelAdmin):
    """A name opens its submission. **Start review** opens it too, and holds it for the reviewer."""

    change_list_template = "developers/review/queue.html"
    list_filter = [TabFilter]
    list_select_related = ["app__developer", "reviewer"]
    list_per_page = 50
    search_fields = ["app__name", "app__slug", "app__developer__email", "app__developer__name"]
    search_help_text = "App or developer"
    show_full_result_count = False
    sortable_by = ()

    list_display = ["__str__"]  # the template shows the rows

    def get_ordering(self, request: HttpRequest) -> list[str | Combinable]:
        return ["-decided_at", "-id"] if tab_of(request) == "decided" else queue_order()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        return with_unanswered(submissions.with_kind(super().get_queryset(request)))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        values = {
            "title": "Review queue",
            "tab": tab_of(request),
            "may_review": current_user(request).has_perm(MAY_REVIEW),
            "median": median_wait(),
            **(_of_listed_apps() if tab_of(request) == "waiting" else {}),
            "due": REVIEW_DUE,
        }
        return super().changelist_view(request, values)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        return decisions.show(request, object_id)

    def get_urls(self) -> list[URLPattern]:
        actions = {
            "take": decisions.take,
            "release": decisions.release,
            "findings": decisions.findings,
            "checks": decisions.running_checks,
            "message": decisions.message,
            "install": decisions.install,
            "uninstall": decisions.uninstall,
            "approve": decisions.approve,
            "reject": decisions.reject,
        }
        return [
            path(f"<path:object_id>/{name}/", view, name=f"marketplace_submission_{name}")
            for name, view in actions.items()
        ] + super().get_urls()


@admin.register(ReviewEntry)
class ReviewEntryAdmin(ReadOnly, admin.ModelAdmin):
    """The read-only review log of all apps."""

    change_list_template = "developers/review/history.html"
    search_help_text = "App, slug, e-mail or note"
    list_display = ["__str__"]  # the template shows the rows
    list_filter = ["kind"]
    list_select_related = ["app", "submission__app", "actor"]
    search_fields = ["app__name", "app__slug", "actor__email", "note"]
    ordering = ["-at", "-id"]
    show_full_result_count = False
    fields = ["when", "kind", "app", "submission", "actor_name", "note"]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": "Review history"} | (extra_context or {}))

    @admin.display(description="time", ordering="at")
    def when(self, entry: ReviewEntry) -> SafeString:
        return SafeString(moment(entry.at))

    @admin.display(description="by")
    def actor_name(self, entry: ReviewEntry) -> str:
        return entry.actor.name if entry.actor else ""
