"""`/developer/apps/:appId/deliveries`: what became of an app's events, over all of its installations. And causing some."""

from rest_framework.request import Request
from rest_framework.response import Response

from common.pages import page_body
from common.rest.query import Query
from developers.api.serializers import SampleEvent
from developers.api.views.base import DeveloperView, validated
from webhooks.catalogue import EVENTS
from webhooks.enums import DeliveryStatus
from webhooks.history import deliveries_of_app, delivery_of_app
from webhooks.records import delivery_record, delivery_with_attempts
from webhooks.services.deliveries import redeliver
from webhooks.services.samples import send_sample


class DeliveriesView(DeveloperView):
    def get(self, request: Request, app_id: str) -> Response:
        query = Query(request.query_params)
        page, status = query.page(), query.choice("status", DeliveryStatus.values)
        event, installation_id = query.choice("event", EVENTS), query.text("installationId")
        query.check()
        history = deliveries_of_app(
            self.own_app(app_id), status=status, event_type=event, installation_id=installation_id
        )
        records = [delivery_record(delivery) for delivery in history.page(page.window)]
        return Response(page_body(records, total=history.total, request=page))


class DeliveryView(DeveloperView):
    def get(self, request: Request, app_id: str, delivery_id: str) -> Response:
        return Response(delivery_with_attempts(delivery_of_app(self.own_app(app_id), delivery_id)))


class RedeliverView(DeveloperView):
    def post(self, request: Request, app_id: str, delivery_id: str) -> Response:
        again = redeliver(delivery=delivery_of_app(self.own_app(app_id), delivery_id))
        return Response(delivery_record(again), status=202)


class TestEventsView(DeveloperView):
    def post(self, request: Request, app_id: str) -> Response:
        name = validated(SampleEvent, request)["event"]
        event, deliveries = send_sample(app=self.own_app(app_id), developer=self.developer, event_type=name)
        return Response({"eventId": str(event.id), "deliveries": deliveries}, status=202)
