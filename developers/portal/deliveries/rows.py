"""The rows of the list of deliveries, as their template writes them."""

from collections.abc import Collection
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.templatetags.links import address
from common.templatetags.ui import clock, host, icon, row_moment, thousands
from marketplace.models import App
from webhooks import catalogue
from webhooks.engine import retry
from webhooks.insight.diagnosis import in_short
from webhooks.queries import DeliveryRow
from webhooks.templatetags.webhooks import delivery_pill


def delivery_rows(
    app: App, deliveries: Collection[DeliveryRow], selected: Collection[UUID]
) -> list[dict[str, Any]]:
    most = len(retry.delays()) + 1
    return [_row(app, each, most, each.pk in selected) for each in deliveries]


def _row(app: App, delivery: DeliveryRow, most: int, is_selected: bool) -> dict[str, Any]:
    event_type, duration = delivery.event_type, delivery.duration_ms
    attempts = "1 of 1" if event_type == catalogue.WEBHOOK_TEST else f"{delivery.attempts_made} of {most}"
    return {
        "id": delivery.pk,
        "url": address("portal:delivery", app.slug, delivery.pk),
        "event": event_type,
        "clock": clock(delivery.created_at),
        "checked": " checked" if is_selected else "",
        "status": delivery_pill(delivery.status),
        "store": store_cell(delivery.store, delivery.is_test),
        "endpoint": _endpoint(delivery.webhook_url, delivery.webhook_description),
        "attempts": attempts,
        "outcome": _outcome(delivery.http_status, delivery.error_class),
        "duration": nothing() if duration is None else f"{thousands(duration)} ms",
        "created": row_moment(delivery.created_at),
    }


# Typed, so that a safe text isn't taken for one that somebody typed.
@lru_cache(maxsize=1000, typed=True)
def store_cell(name: str, is_test: bool) -> SafeString:
    return format_html(
        '<span class="store-cell">{0}<span class="cut" dir="auto" title="{1}">{1}</span></span>',
        test_dot() if is_test else "",
        name,
    )


@lru_cache(maxsize=1000, typed=True)
def _endpoint(url: str, description: str) -> SafeString:
    return format_html('<span class="cut" title="{}">{}</span>', url, description or host(url))


@lru_cache(maxsize=200)
def _outcome(http_status: int | None, error_class: str) -> SafeString:
    """In a word or two."""
    said = in_short(http_status, error_class)
    return format_html('<span class="nowrap">{}</span>', said) if said else nothing()


@cache
def nothing() -> SafeString:
    return format_html('<span class="none">{}</span>', "—")


@cache
def test_dot() -> SafeString:
    """Before the name of a store on which its owner tests the app."""
    return format_html(
        '<span class="test-dot" title="{0}">{1}<span class="visually-hidden">{0} on </span></span>',
        "Test install",
        icon("diamond"),
    )
