"""The review queue, the URLs of a submission's actions, and the review log."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Q, QuerySet
from django.db.models.expressions import Combinable
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.templatetags.ui import moment
from common.web.admin import ReadOnly
from developers.review import checks, submissions
from developers.review.admin import decisions
from developers.review.admin.access import current_user
from developers.review.reviewers import MAY_REVIEW
from developers.review.templatetags.review import scope_list, since
from marketplace.models import ReviewEntry, Submission


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


@admin.register(Submission)
class SubmissionAdmin(ReadOnly, admin.ModelAdmin):
    """A name opens its submission. **Start review** opens it too, and holds it for the reviewer."""

    change_list_template = "developers/review/queue.html"
    list_display_links = ["app_name"]
    list_filter = [TabFilter]
    list_select_related = ["app__developer", "reviewer"]
    list_per_page = 50
    search_fields = ["app__name", "app__slug", "app__developer__email", "app__developer__name"]
    search_help_text = "App or developer"
    show_full_result_count = False
    sortable_by = ()

    _ALWAYS = ("app_name", "kind", "developer", "version", "scopes_added", "checked")
    _COLUMNS = {
        "waiting": ("waiting_since", *_ALWAYS, "take"),
        "held": ("waiting_since", *_ALWAYS, "held_by"),
        "decided": ("decided", *_ALWAYS, "decision"),
    }

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        columns = self._COLUMNS[tab_of(request)]
        may_review = current_user(request).has_perm(MAY_REVIEW)
        return columns if may_review else tuple(name for name in columns if name != "take")

    def get_ordering(self, request: HttpRequest) -> list[str | Combinable]:
        return ["-decided_at", "-id"] if tab_of(request) == "decided" else ["submitted_at", "id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        return submissions.with_kind(super().get_queryset(request))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": "Review queue", "tab": tab_of(request)})

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
            "approve": decisions.approve,
            "reject": decisions.reject,
        }
        return [
            path(f"<path:object_id>/{name}/", view, name=f"marketplace_submission_{name}")
            for name, view in actions.items()
        ] + super().get_urls()

    # Columns

    @admin.display(description="app")
    def app_name(self, submission: Submission) -> str:
        return submission.app.name

    @admin.display(description="developer")
    def developer(self, submission: Submission) -> str:
        return submission.app.developer.name

    def kind(self, submission: Submission) -> str:
        return submissions.kind(submission)

    @admin.display(description="scopes added")
    def scopes_added(self, submission: Submission) -> SafeString:
        return scope_list(submission.added_scopes)

    @admin.display(description="checks")
    def checked(self, submission: Submission) -> str:
        return checks.summary_of(submission)

    @admin.display(description="waiting since")
    def waiting_since(self, submission: Submission) -> SafeString:
        return since(submission.submitted_at)

    @admin.display(description="reviewer")
    def held_by(self, submission: Submission) -> SafeString:
        holder = submission.reviewer.name if submission.reviewer else ""
        return format_html("{} {}", holder, since(submission.held_since))

    @admin.display(description="decided")
    def decided(self, submission: Submission) -> SafeString:
        return SafeString(moment(submission.decided_at))

    @admin.display(description="decision")
    def decision(self, submission: Submission) -> str:
        reviewer = f" by {submission.reviewer.name}" if submission.reviewer else ""
        return f"{submission.get_status_display()}{reviewer}"

    @admin.display(description="review")
    def take(self, submission: Submission) -> SafeString:
        """A button of the list's own form, which contains the CSRF token."""
        return format_html(
            '<button class="button" formaction="{}" aria-label="Start review of {}">Start review</button>',
            reverse("admin:marketplace_submission_take", args=[submission.pk]),
            submission.app.name,
        )


@admin.register(ReviewEntry)
class ReviewEntryAdmin(ReadOnly, admin.ModelAdmin):
    """The read-only review log of all apps."""

    change_list_template = "developers/review/list.html"
    search_help_text = "App, slug, e-mail address or note"
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
