"""A look at webhooks, events and deliveries for operators. Nothing is changed here, and secrets are not shown."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from webhooks.models import Attempt, Delivery, Event, Webhook


class ReadOnly:
    """Shows, and changes nothing."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class AttemptInline(ReadOnly, admin.TabularInline):
    model = Attempt
    ordering = ["number"]
    fields = ["number", "attempted_at", "http_status", "duration_ms", "error_class", "response_excerpt"]


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
    inlines = [AttemptInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).defer("webhook__secret")

    @admin.display(description="event")
    def event_type(self, delivery: Delivery) -> str:
        return delivery.event.type

    def url(self, delivery: Delivery) -> str:
        return delivery.webhook.url

    def get_fields(self, request: HttpRequest, obj: Delivery | None = None) -> list[Any]:
        return [field.name for field in Delivery._meta.fields]
