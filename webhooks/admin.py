"""Read-only admin pages for webhooks, events, deliveries and data erasures. Secrets are never shown.

The only action resends an overdue erasure.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from common.errors import ServiceError
from common.times import iso
from common.web.admin import ReadOnly
from webhooks.models import Delivery, Erasure, Event, Webhook
from webhooks.services import erasure as erasures


@admin.register(Webhook)
class WebhookAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["url", "app", "business", "is_active", "is_app_defined", "disabled_at", "created_at"]
    list_filter = ["is_active", "is_app_defined"]
    list_select_related = ["installation__app", "installation__business"]
    search_fields = ["=id", "url", "installation__app__slug", "installation__business__slug"]
    ordering = ["-id"]
    show_full_result_count = False
    fields = [
        "id",
        "installation",
        "url",
        "events",
        "description",
        "is_active",
        "is_app_defined",
        "disabled_reason",
        "disabled_at",
        "deleted_at",
        "created_at",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).defer("secret", "installation__webhook_secret")

    def app(self, webhook: Webhook) -> str:
        return str(webhook.installation.app)

    def business(self, webhook: Webhook) -> str:
        return str(webhook.installation.business)


@admin.register(Event)
class EventAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["type", "business", "occurred_at", "id"]
    list_filter = ["type"]
    list_select_related = ["business"]
    search_fields = ["=id", "business__slug"]
    ordering = ["-id"]
    show_full_result_count = False


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ["id", "event_type", "url", "status", "due_at", "attempt_count", "created_at"]
    list_filter = ["status", "event__type"]
    list_select_related = ["event", "webhook"]
    search_fields = ["=id", "=event__id", "=webhook__id"]
    ordering = ["-id"]
    show_full_result_count = False
    readonly_fields = ["attempts"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).defer("webhook__secret")

    @admin.display(description="event")
    def event_type(self, delivery: Delivery) -> str:
        return delivery.event.type

    def url(self, delivery: Delivery) -> str:
        return delivery.webhook.url

    def get_fields(self, request: HttpRequest, obj: Delivery | None = None) -> list[Any]:
        return [*(field.name for field in Delivery._meta.fields), "attempts"]

    def attempts(self, delivery: Delivery) -> SafeString:
        """The admin has no forms for a table whose key has two columns."""
        made = delivery.attempts.order_by("number")
        lines = (
            (each.number, iso(each.attempted_at), each.http_status or each.error_class, each.duration_ms,
             each.response_excerpt)
            for each in made
        )  # fmt: skip
        return format_html_join("", "<p>{}: {}, {}, {} ms {}</p>", lines)


@admin.register(Erasure)
class ErasureAdmin(ReadOnly, admin.ModelAdmin):
    """The filter "Overdue" lists what operators must follow up."""

    list_display = ["app", "business", "state", "due_at", "sent_at", "confirmed_at", "alarmed_at"]
    list_filter = ["state"]
    list_select_related = ["installation__app", "installation__business"]
    search_fields = ["=id", "=installation__id", "installation__app__slug", "installation__business__slug"]
    ordering = ["-due_at"]
    show_full_result_count = False
    actions = ["resend"]
    fields = [
        "installation",
        "customer",
        "event",
        "state",
        "due_at",
        "sent_at",
        "confirmed_at",
        "answer",
        "alarmed_at",
        "history",
    ]
    readonly_fields = ["history"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Erasure]:
        return super().get_queryset(request).defer("installation__webhook_secret")

    def app(self, erasure: Erasure) -> str:
        return str(erasure.installation.app)

    def business(self, erasure: Erasure) -> str:
        return str(erasure.installation.business)

    @admin.display(description="installation history")
    def history(self, erasure: Erasure) -> SafeString:
        entries = erasure.installation.history.order_by("at", "id")
        lines = ((iso(entry.at), entry.get_kind_display(), entry.note) for entry in entries)
        return format_html_join("", "<p>{}: {} {}</p>", lines)

    def has_resend_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("webhooks.change_erasure")

    @admin.action(description="Resend selected erasures", permissions=["resend"])
    def resend(self, request: HttpRequest, chosen: QuerySet[Erasure]) -> None:
        for erasure in chosen:
            try:
                erasures.resend(erasure=erasure)
            except ServiceError as error:
                self.message_user(request, f"{erasure}: {error.message}", messages.ERROR)
            else:
                self.message_user(request, f"{erasure} will be resent.", messages.SUCCESS)
