"""What the command `listen` sends and gets."""

import base64
from functools import partial
from typing import Any, Final, get_args

from rest_framework import serializers

from common import lengths
from common.http.exchanges import ErrorClass, Exchange, status_class
from common.http.transport import TIMEOUT
from common.rest.fields import Boolean, Choice, Integer, Moment, Object, StringList, Text
from extensions.hooks.answers import MAX_BYTES
from stores.serializers import Count
from webhooks.serializers import DeliveryId, InstallationId

LONGEST_WAIT: Final = 20  # seconds; proxies often close what is silent for 30
MOST_BUSY: Final = 1000
MOST_ROOM: Final = 100
MOST_ANSWERS: Final = 20
LONGEST_ATTEMPT: Final = 600_000  # ms
# A class that belongs to a status follows from that, and an address on the developer's machine is never blocked.
FAILURES: Final = [
    name
    for name in get_args(ErrorClass)
    if name not in ("blocked_address", "redirect", "http_4xx", "http_5xx")
]
LEASE: Final = "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06:3"
HEADERS: Final = {"Content-Type": "application/json", "X-Webhook-Event": "order.created"}

ListenerId = partial(Text, "The listener.", "4711")
Lease = partial(Text, "Names this attempt.", LEASE)
CallId = partial(Text, "The call.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a0d")


class ListenBody(serializers.Serializer):
    testStoreId = Text(
        "Listen for this test store alone. Others may listen for the app and for other test stores meanwhile.",
        "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a12",
        max_length=lengths.IDENTIFIER,
        required=False,
        allow_null=True,
    )
    since = Moment(
        "Also resend what was created since then and has not been delivered: failed, held or being retried.",
        required=False,
        allow_null=True,
    )


class ListenerSerializer(serializers.Serializer):
    listenerId = ListenerId()
    installationId = InstallationId()
    webhookUrl = Text(
        "The app's Webhook URL, which gets nothing meanwhile; null without one.",
        "https://stars.example.com/events",
        allow_null=True,
    )
    webhookSecret = Text("Signs these webhooks and hook calls.", "whsec_test_kT0g…")
    resent = Count("How many deliveries `since` resends.", 0)


class WorkBody(serializers.Serializer):
    busy = StringList(
        "The leases that you are still working on. You get the others, also what was lost on its way to you.",
        [LEASE],
        child=Lease(max_length=80),
        required=False,
        max_length=MOST_BUSY,
    )
    room = Integer("At most this many deliveries.", 10, required=False, min_value=0, max_value=MOST_ROOM)
    wait = Integer(
        "Seconds to wait for something to come. `extension-platform listen` waits 20.",
        0,
        required=False,
        min_value=0,
        max_value=LONGEST_WAIT,
    )


class _RequestSerializer(serializers.Serializer):
    url = Text("Where the request would go without a listener.", "https://stars.example.com/events")
    headers = Object("All headers but `Host` and `Content-Length`, in their order.", HEADERS)
    body = Text("The exact text of the body, in UTF-8.", '{"event":"order.created","data":{}}')


class RelayedDeliverySerializer(_RequestSerializer):
    lease = Lease()
    id = DeliveryId()
    installationId = InstallationId()
    event = Text("The event's name.", "order.created")


class RelayedCallSerializer(_RequestSerializer):
    id = CallId()
    installationId = InstallationId(allow_null=True)
    timeoutMs = Integer("How long the checkout still waits.", 1950, min_value=0)


class WorkSerializer(serializers.Serializer):
    deliveries = RelayedDeliverySerializer(many=True, help_text=f"To be answered within {TIMEOUT:g} seconds.")
    hookCalls = RelayedCallSerializer(many=True, help_text="Each is handed out once.")
    pauseMs = Integer(
        "How long to wait before asking again. More than 0 while many listeners share this server.",
        0,
        min_value=0,
    )


class _AnswerBody(serializers.Serializer):
    httpStatus = Integer("Null without a response.", 200, allow_null=True, min_value=100, max_value=599)
    durationMs = Integer("How long it took.", 42, min_value=0, max_value=LONGEST_ATTEMPT)
    error = Choice(FAILURES, "Why there was no response.", None, required=False, allow_null=True)
    body = Text(
        "The response body in base64, at most 64 KiB of it.",
        "eyJmZWUiOjMwMH0=",
        required=False,
        allow_blank=True,
        max_length=4 * (MAX_BYTES // 3 + 1),
    )
    truncated = Boolean("Whether the body was longer, or broke off.", False, required=False)
    retryAfter = Text(
        "The response's `Retry-After`.",
        None,
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=100,
    )

    schema: Final = {
        "if": {"properties": {"httpStatus": {"const": None}}},
        "then": {"properties": {"error": {"enum": FAILURES}}, "required": ["error"]},
    }

    def validate_body(self, text: str) -> bytes:
        try:
            return base64.b64decode(text, validate=True)
        except ValueError:  # also by a character outside ASCII
            raise serializers.ValidationError("Must be base64.") from None

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["httpStatus"] is None and not attrs.get("error"):
            raise serializers.ValidationError({"error": "Is required without a status."})
        return attrs


class DeliveryAnswerBody(_AnswerBody):
    lease = Lease(max_length=80)


class CallAnswerBody(_AnswerBody):
    id = CallId(max_length=80)


class AnswersBody(serializers.Serializer):
    deliveries = DeliveryAnswerBody(many=True, required=False, max_length=MOST_ANSWERS)  # type: ignore[call-arg]
    hookCalls = CallAnswerBody(many=True, required=False, max_length=MOST_ANSWERS)  # type: ignore[call-arg]


class RecordedSerializer(serializers.Serializer):
    recorded = Count("How many of the answers counted. The others came too late.", 1)


def exchange_of(answer: dict[str, Any]) -> Exchange:
    """A valid answer as the platform's own transport would report it."""
    status = answer["httpStatus"]
    retry_after = answer.get("retryAfter")
    return Exchange(
        status=status,
        headers={"retry-after": retry_after} if retry_after else {},
        body=answer.get("body", b""),
        truncated=answer.get("truncated", False),
        duration_ms=answer["durationMs"],
        error_class=answer["error"] if status is None else status_class(status),
    )
