"""What became of a webhook's deliveries, and sending them again."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.serializers import RecoverBody
from appapi.views.webhooks import WebhookView
from common.pages import page_body
from webhooks.enums import DeliveryStatus
from webhooks.history import deliveries_to, delivery_to
from webhooks.records import delivery_record, delivery_with_attempts
from webhooks.services.deliveries import recover, redeliver


class DeliveryList(WebhookView):
    def get(self, request: Request, webhook_id: str) -> Response:
        query = self.query()
        page, status = query.page(), query.choice("status", DeliveryStatus.values)
        query.check()
        history = deliveries_to(self.webhook(webhook_id), status=status)
        records = [delivery_record(delivery) for delivery in history.page(page.window)]
        return Response(page_body(records, total=history.total, request=page))


class DeliveryDetail(WebhookView):
    def get(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        return Response(delivery_with_attempts(delivery_to(self.webhook(webhook_id), delivery_id)))


class Redelivery(WebhookView):
    def post(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        again = redeliver(delivery=delivery_to(self.webhook(webhook_id), delivery_id))
        return Response(delivery_record(again), status=202)


class Recovery(WebhookView):
    def post(self, request: Request, webhook_id: str) -> Response:
        span = self.read(RecoverBody)
        count = recover(webhook=self.webhook(webhook_id), since=span["since"], until=span["until"])
        return Response({"deliveries": count}, status=202)
