"""An app's webhooks and their deliveries."""

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from appapi.serializers import DeliveryFilters, RecoverBody, WebhookBody, WebhookChanges
from appapi.views.base import AppApiView
from common.rest.schema import problem
from common.strangers import may_wait_for_strangers
from common.web.pagination import page_body
from webhooks import serializers
from webhooks.enums import DeliveryStatus
from webhooks.insight.history import deliveries_to, delivery_to
from webhooks.models import Webhook
from webhooks.queries import webhook_of, webhooks_of
from webhooks.services.deliveries import recover, redeliver
from webhooks.services.registration import change_webhook, create_webhook, delete_webhook
from webhooks.services.sandbox.testing import send_test


class WebhookView(AppApiView):
    """Needs no scope: a webhook only receives events whose scope the app holds."""

    tag = "Webhooks"
    path_fields = {"webhook_id": serializers.WebhookId()}
    required_scope = None

    def webhook(self, webhook_id: str) -> Webhook:
        return webhook_of(self.installation, webhook_id)

    def answer(self, webhook: Webhook) -> Response:
        return Response(serializers.webhook_payload(webhook, self.installation))


class WebhookList(WebhookView):
    path_fields = {}

    @extend_schema("listWebhooks", responses=serializers.WebhookSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List webhooks.

        Inactive ones are included.
        """
        query = self.query()
        page = self.page(query)
        query.check()
        webhooks = webhooks_of(self.installation)
        payloads = [
            serializers.webhook_payload(webhook, self.installation) for webhook in webhooks[page.window]
        ]
        return Response(page_body(payloads, total=webhooks.count(), request=page))

    @extend_schema(
        "createWebhook",
        request=WebhookBody,
        responses={
            201: serializers.CreatedWebhookSerializer,
            409: problem("The installation already has 20 webhooks."),
        },
    )
    def post(self, request: Request) -> Response:
        """Register a webhook.

        An installation has at most 20. No other response shows the `secret`. An event that two webhooks with the same
        URL list is sent there twice, with the same `X-Webhook-Event-Uid`; the app-defined webhook counts as one of them.
        """
        body = self.read(WebhookBody)
        webhook, secret = create_webhook(
            installation=self.installation,
            url=body["url"],
            events=body["events"],
            filter_=body.get("filter"),
            description=body["description"],
        )
        payload = serializers.webhook_payload(webhook, self.installation) | {"secret": secret}
        return Response(payload, status=201, headers={"Cache-Control": "no-store"})


class WebhookDetail(WebhookView):
    @extend_schema("getWebhook", responses=serializers.WebhookSerializer)
    def get(self, request: Request, webhook_id: str) -> Response:
        """Get a webhook."""
        return self.answer(self.webhook(webhook_id))

    @extend_schema(
        "changeWebhook",
        request=WebhookChanges,
        examples=[
            OpenApiExample("Change", {"isActive": True, "events": ["order.created"]}, request_only=True)
        ],
        responses={
            200: serializers.WebhookSerializer,
            409: problem(
                "The app-defined webhook has the app's Webhook URL and filter; edit the app instead."
            ),
        },
    )
    def patch(self, request: Request, webhook_id: str) -> Response:
        """Change a webhook."""
        changes = self.read(WebhookChanges, partial=True)
        return self.answer(change_webhook(webhook=self.webhook(webhook_id), changes=changes))

    @extend_schema(
        "deleteWebhook",
        responses={204: None, 409: problem("The app-defined webhook can be switched off but not deleted.")},
    )
    def delete(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook.

        Cancels its waiting deliveries.
        """
        delete_webhook(webhook=self.webhook(webhook_id))
        return Response(status=204)


@may_wait_for_strangers
class WebhookTest(WebhookView):
    @extend_schema(
        "testWebhook",
        responses={
            200: serializers.WebhookTestResultSerializer,
            429: problem("Two test calls of the app are under way."),
            503: problem("Too many requests are waiting for apps' servers."),
        },
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Test a webhook.

        Sends `webhook.test` once and waits at most ten seconds for the endpoint. The response is 200 for any
        outcome.
        """
        result = send_test(webhook=self.webhook(webhook_id))
        return Response(
            {
                "success": result.success,
                "httpStatus": result.http_status,
                "durationMs": result.duration_ms,
                "error": result.error,
                "eventId": str(result.event_id),
            }
        )


DELIVERY = WebhookView.path_fields | {"delivery_id": serializers.DeliveryId()}


class DeliveryList(WebhookView):
    @extend_schema(
        "listDeliveries", parameters=[DeliveryFilters], responses=serializers.DeliverySerializer(many=True)
    )
    def get(self, request: Request, webhook_id: str) -> Response:
        """List a webhook's deliveries."""
        query = self.query()
        page, status = self.page(query), query.choice("status", DeliveryStatus.values)
        query.check()
        history = deliveries_to(self.webhook(webhook_id), status=status)
        payloads = [serializers.delivery_payload(delivery) for delivery in history.page(page.window)]
        return Response(page_body(payloads, total=history.total, request=page))


class DeliveryDetail(WebhookView):
    path_fields = DELIVERY

    @extend_schema("getDelivery", responses=serializers.DeliveryWithAttemptsSerializer)
    def get(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        """Get a delivery with its attempts."""
        return Response(
            serializers.delivery_with_attempts(delivery_to(self.webhook(webhook_id), delivery_id))
        )


class Redelivery(WebhookView):
    path_fields = DELIVERY

    @extend_schema(
        "redeliver",
        responses={
            202: serializers.DeliverySerializer,
            409: problem("The webhook is inactive, or the delivery was a test."),
        },
    )
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        """Resend a delivery.

        With the same `X-Service-Event-Id` and a new schedule.
        """
        again = redeliver(delivery=delivery_to(self.webhook(webhook_id), delivery_id))
        return Response(serializers.delivery_payload(again), status=202)


class Recovery(WebhookView):
    @extend_schema(
        "recoverDeliveries",
        request=RecoverBody,
        responses={202: serializers.DeliveryCountSerializer, 409: problem("The webhook is inactive.")},
    )
    def post(self, request: Request, webhook_id: str) -> Response:
        """Resend failed and held deliveries.

        Every EXHAUSTED or HELD delivery created in that time, ten a second; RETRYING ones become due at once.
        """
        span = self.read(RecoverBody)
        count = recover(webhook=self.webhook(webhook_id), since=span["since"], until=span["until"])
        return Response({"deliveries": count}, status=202)
