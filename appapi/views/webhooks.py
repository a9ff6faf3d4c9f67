"""Registering webhooks, and trying them out."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.serializers import WebhookBody
from appapi.views.base import AppApiView
from webhooks.queries import webhook_of
from webhooks.records import webhook_record
from webhooks.services.registration import create_webhook
from webhooks.services.testing import send_test


class WebhookList(AppApiView):
    required_scope = None

    def post(self, request: Request) -> Response:
        body = self.read(WebhookBody)
        webhook, secret = create_webhook(
            installation=self.installation,
            url=body["url"],
            events=body["events"],
            description=body["description"],
        )
        record = webhook_record(webhook, self.installation) | {"secret": secret}
        return Response(record, status=201, headers={"Cache-Control": "no-store"})


class WebhookTest(AppApiView):
    required_scope = None

    def post(self, request: Request, webhook_id: str) -> Response:
        result = send_test(webhook=webhook_of(self.installation, webhook_id))
        return Response(
            {
                "success": result.success,
                "httpStatus": result.http_status,
                "durationMs": result.duration_ms,
                "error": result.error,
                "eventId": str(result.event_id),
            }
        )
