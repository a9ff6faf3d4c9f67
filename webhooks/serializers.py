"""Webhooks and deliveries in the APIs (contract, section 5): each payload with the serializer that describes it."""

from datetime import timedelta
from functools import partial
from typing import Any, Final, get_args

import orjson
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.utils.html import is_html_input

from common.http.exchanges import ErrorClass
from common.rest.fields import Boolean, Choice, Described, Identifier, Integer, Moment, StringList, Text
from common.times import iso, iso_or_none
from installations.models import Installation
from stores.serializers import Count
from webhooks import catalogue
from webhooks.catalogue import EVENTS, SUBSCRIBABLE
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.filters import rules
from webhooks.filters.fields import FIELD, MAX_FIELD
from webhooks.messages import message
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import events_of, filter_of, may_read_payload

WebhookId = partial(Text, "The webhook.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06")
DeliveryId = partial(Text, "The value of X-Service-Event-Id.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a08")
EventId = partial(Text, "The event; its deliveries share it.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a09")
InstallationId = partial(Text, "The installation.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0a")
HttpStatus = partial(Integer, "Null without a response.", min_value=100, max_value=999, allow_null=True)
Duration = partial(Integer, "How long it took, in milliseconds.", 31, min_value=0)
Failure = partial(Choice, get_args(ErrorClass), "How it failed; null for a success.", allow_null=True)


@extend_schema_field(OpenApiTypes.ANY)
class AnyValue(Described):
    """Text, a number, true or false, or a list of these."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class FilterConditionSerializer(serializers.Serializer):
    field = Text(
        "A field of the data: names joined by dots, with [] behind an array's name.",
        "amount",
        max_length=MAX_FIELD,
        schema={"pattern": f"^{FIELD.pattern}$"},
    )
    op = Choice(rules.OPS, "How the field and the value are compared.", "gte")
    value = AnyValue(
        "What it is compared with: a list for in, true or false for exists, which may leave it out.",
        100,
        required=False,
        schema={
            "type": ["string", "number", "boolean", "array"],
            "maxLength": rules.MAX_TEXT,
            "items": {"type": ["string", "number", "boolean"], "maxLength": rules.MAX_TEXT},
            "minItems": 1,
            "maxItems": rules.MOST_VALUES,
        },
    )

    schema: Final = {"additionalProperties": False}


class WebhookFilterSerializer(serializers.Serializer):
    """Only its form as an object is checked here: `webhooks.filters.rules` also has to know the events."""

    default_error_messages = {"invalid": "Must be an object, or null for no filter."}

    all: Any = serializers.ListSerializer(
        child=FilterConditionSerializer(),
        required=False,
        allow_empty=False,
        max_length=rules.MOST,
        help_text="All of these must hold.",
    )
    any: Any = serializers.ListSerializer(
        child=FilterConditionSerializer(),
        required=False,
        allow_empty=False,
        max_length=rules.MOST,
        help_text="One of these must hold.",
    )
    changed = StringList(
        "One of these fields has changed. Events without changedFields pass.",
        ["price"],
        required=False,
        child=Identifier(max_length=MAX_FIELD),
        max_length=rules.MOST,
        schema={"minItems": 1},
    )

    schema: Final = {"additionalProperties": False, "minProperties": 1, "not": {"required": ["all", "any"]}}

    def get_value(self, dictionary: Any) -> Any:
        """In a form it is JSON text."""
        if not is_html_input(dictionary):
            return super().get_value(dictionary)
        text = dictionary.get(self.field_name, empty)
        try:
            return text if text is empty else orjson.loads(text)
        except orjson.JSONDecodeError:
            return text

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data

    def to_representation(self, instance: Any) -> Any:
        """Of the text that is stored."""
        return orjson.loads(instance)


class WebhookSerializer(serializers.Serializer):
    id = WebhookId()
    url = Text("The URL that deliveries go to.", "https://app.example.com/events")
    events = StringList("The events it is registered for.", ["order.created"], among=SUBSCRIBABLE)
    filter = WebhookFilterSerializer(
        allow_null=True, help_text="Which of these events are delivered; null: all."
    )
    description = Text("The app's own name for it.", "Order bell", allow_null=True)
    isActive = Boolean("Whether deliveries are sent to it.", True)
    isAppDefined = Boolean("Whether it was created for the app's Webhook URL.", False)
    eventsWithoutScope = StringList("Events that the app's scopes don't cover.", [], among=SUBSCRIBABLE)
    disabledReason = Text("Why it was disabled automatically.", allow_null=True)
    disabledAt = Moment("When it was disabled automatically.", None, allow_null=True)
    createdAt = Moment("When it was registered.")


class CreatedWebhookSerializer(WebhookSerializer):
    secret = Text("Signs its deliveries. No other response shows it.", f"whsec_test_{'A' * 43}=")


def webhook_payload(webhook: Webhook, installation: Installation) -> dict[str, Any]:
    """A webhook without its secret, which only the response to its creation adds.

    `installation` is the webhook's, read by `Installation.objects.with_app()`.
    """
    events, filter_text = events_of(webhook, installation), filter_of(webhook, installation)
    return {
        "id": str(webhook.id),
        "url": webhook.url,
        "events": events,
        "filter": filter_text and orjson.loads(filter_text),
        "description": webhook.description or None,
        "isActive": webhook.is_active,
        "isAppDefined": webhook.is_app_defined,
        "eventsWithoutScope": catalogue.without_scope(events, installation.effective_scopes),
        "disabledReason": webhook.disabled_reason or None,
        "disabledAt": iso_or_none(webhook.disabled_at),
        "createdAt": iso(webhook.created_at),
    }


class WebhookTestResultSerializer(serializers.Serializer):
    success = Boolean("Whether the endpoint answered 2xx in time.", True)
    httpStatus = HttpStatus(example=200)
    durationMs = Duration()
    error = Failure()
    eventId = DeliveryId()


class _DeliverySerializer(serializers.Serializer):
    id = DeliveryId()
    eventId = EventId()
    event = Choice(EVENTS, "The event's name.", "order.created")
    webhookId = WebhookId()
    installationId = InstallationId()
    status = Choice(DeliveryStatus.choices, "The delivery's status.", "RETRYING")
    createdAt = Moment("When it was created.")
    nextAttemptAt = Moment("Null when none is due.", "2026-11-20T15:04:35.500Z", allow_null=True)


class DeliverySerializer(_DeliverySerializer):
    attemptCount = Count("How many attempts were made.", 1)


class AttemptSerializer(serializers.Serializer):
    number = Integer("Counted from 1.", 1, min_value=1)
    attemptedAt = Moment("When it was made.")
    httpStatus = HttpStatus(example=500)
    durationMs = Duration()
    errorClass = Failure(example="http_5xx")
    responseExcerpt = Text(
        "The start of the response body; null without one.", "Out of order", allow_null=True
    )


class DeliveryWithAttemptsSerializer(_DeliverySerializer):
    payload = Text(
        "The body, the same in every attempt. Null for a delivery that was never attempted and may no longer be sent.",
        '{"event":"order.created","timestamp":"2026-11-20T15:04:05.123Z","webhookId":"…","businessId":"…","data":{}}',
        allow_null=True,
    )
    attempts = AttemptSerializer(many=True, help_text="In the order they were made.")


class DeliveryCountSerializer(serializers.Serializer):
    deliveries = Count("How many deliveries will be resent.", 1)


def delivery_payload(delivery: Delivery) -> dict[str, Any]:
    """A delivery in a list (contract, section 9). Reads the event's type and the webhook's installation."""
    waits = delivery.status in WAITING
    return {
        "id": str(delivery.id),
        "eventId": str(delivery.event_id),
        "event": delivery.event.type,
        "webhookId": str(delivery.webhook_id),
        "installationId": str(delivery.webhook.installation_id),
        "status": delivery.status,
        "createdAt": iso(delivery.created_at),
        "nextAttemptAt": iso_or_none(delivery.due_at) if waits else None,
        "attemptCount": delivery.attempt_count,
    }


def delivery_with_attempts(delivery: Delivery, *, ahead: timedelta | None = None) -> dict[str, Any]:
    """One delivery, with its `attempts` in order instead of `attemptCount`. Reads the whole event.

    Those of a test store, whose clock is `ahead`, have `dueAt` by it.
    """
    record = delivery_payload(delivery)
    del record["attemptCount"]
    attempts = sorted(
        delivery.attempts.all(), key=lambda attempt: attempt.number
    )  # which may be read already
    return record | {
        "payload": message.body_of(delivery).decode() if may_read_payload(delivery) else None,
        "attempts": [attempt_payload(attempt) | _due(attempt, ahead) for attempt in attempts],
    }


def _due(attempt: Attempt, ahead: timedelta | None) -> dict[str, Any]:
    if ahead is None:
        return {}
    return {"dueAt": iso((attempt.due_at or attempt.attempted_at) + ahead)}


def attempt_payload(attempt: Attempt) -> dict[str, Any]:
    """`errorClass` is null for a success; `httpStatus` and `responseExcerpt` are null without a response."""
    return {
        "number": attempt.number,
        "attemptedAt": iso(attempt.attempted_at),
        "httpStatus": attempt.http_status,
        "durationMs": attempt.duration_ms,
        "errorClass": attempt.error_class or None,
        "responseExcerpt": None if attempt.http_status is None else attempt.response_excerpt,
    }
