"""An app's webhooks: registering, changing, trying them out."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.serializers import WebhookBody, WebhookChanges
from appapi.views.base import AppApiView
from common.pages import page_body
from webhooks.models import Webhook
from webhooks.queries import webhook_of, webhooks_of
from webhooks.records import webhook_record
from webhooks.services.registration import change_webhook, create_webhook, delete_webhook
from webhooks.services.testing import send_test


class WebhookView(AppApiView):
    """The token alone opens these: each webhook is told only of events whose scope is held."""

    required_scope = None

    def webhook(self, webhook_id: str) -> Webhook:
        return webhook_of(self.installation, webhook_id)

    def answer(self, webhook: Webhook) -> Response:
        return Response(webhook_record(webhook, self.installation))


class WebhookList(WebhookView):
    def get(self, request: Request) -> Response:
        query = self.query()
        page = query.page()
        query.check()
        webhooks = webhooks_of(self.installation)
        records = [webhook_record(webhook, self.installation) for webhook in webhooks[page.window]]
        return Response(page_body(records, total=webhooks.count(), request=page))

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


class WebhookDetail(WebhookView):
    def get(self, request: Request, webhook_id: str) -> Response:
        return self.answer(self.webhook(webhook_id))

    def patch(self, request: Request, webhook_id: str) -> Response:
        changes = self.read(WebhookChanges, partial=True)
        return self.answer(change_webhook(webhook=self.webhook(webhook_id), changes=changes))

    def delete(self, request: Request, webhook_id: str) -> Response:
        delete_webhook(webhook=self.webhook(webhook_id))
        return Response(status=204)


class WebhookTest(WebhookView):
    def post(self, request: Request, webhook_id: str) -> Response:
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
