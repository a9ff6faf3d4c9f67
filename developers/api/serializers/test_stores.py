"""Test stores, and what happened in them."""

from datetime import timedelta
from functools import partial

from rest_framework import serializers

from common.rest.fields import Boolean, Choice, Integer, Moment, Text
from stores.serializers import BusinessId
from teststores.models import StoreScenario
from teststores.services import LONGEST, SHORTEST, USUAL
from webhooks.serializers import AttemptSerializer, DeliveryWithAttemptsSerializer, InstallationId, WebhookId

API, HOOK = "API", "HOOK"
TestStoreId = partial(Text, "The test store.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a12")


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())


class NewTestStore(serializers.Serializer):
    scenario = Choice(
        StoreScenario.values, "What the store has: as a fresh sandbox, nothing, or 500 products and 500 orders.",
        "default", default=StoreScenario.DEFAULT.value,
    )  # fmt: skip
    expiresIn = Integer(
        "Seconds after which the store is deleted.", 900,
        min_value=_seconds(SHORTEST), max_value=_seconds(LONGEST), default=_seconds(USUAL),
    )  # fmt: skip


class TestStoreSerializer(serializers.Serializer):
    id = TestStoreId()
    businessId = BusinessId()
    storeUrl = Text("Its storefront.", "https://test-store-abc.stores.example/", schema={"format": "uri"})
    createdAt = Moment("When it was opened.")
    expiresAt = Moment("When it is deleted.")
    installationId = InstallationId(allow_null=True)
    webhookId = WebhookId(allow_null=True)


class OpenedTestStoreSerializer(TestStoreSerializer):
    accessToken = Text("The token of the app API. No other response shows it.", "fbat_test_5e…")
    webhookSecret = Text("Signs webhooks and hook calls.", "whsec_test_kT0g…")
    isTestInstall = Boolean("Always true.", True)


class TimedAttemptSerializer(AttemptSerializer):
    dueAt = Moment("When it was due, by the store's clock.")


class TestStoreDeliverySerializer(DeliveryWithAttemptsSerializer):
    attempts = TimedAttemptSerializer(many=True, help_text="In the order they were made.")


class TestStoreCallSerializer(serializers.Serializer):
    id = Text("The request, or the hook call.", "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a06")
    kind = Choice([API, HOOK], "A call of the app API, or of a hook.", API)
    method = Text("Of an API call.", "GET", allow_null=True)
    path = Text("Of an API call, with its query.", "/app-api/orders", allow_null=True)
    hookPoint = Text("Of a hook call.", None, allow_null=True)
    status = Integer("The HTTP status; null for a hook that wasn't reached.", 200, allow_null=True)
    durationMs = Integer("How long it took.", 12, min_value=0, allow_null=True)
    at = Moment("When it began.")
