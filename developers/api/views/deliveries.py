"""`/developer/apps/:appId/…`: deliveries over all installations, sample events and analytics."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.rest.query import Query
from common.rest.schema import problem
from common.web.pagination import page_body
from developers import limits
from developers.api.serializers.bodies import DeliveryLogFilters, SampleEvent
from developers.api.serializers.responses import AnalyticsSerializer, SentSampleSerializer
from developers.api.views.base import NOT_INSTALLED, DeveloperView, validated
from webhooks import serializers
from webhooks.catalogue import EVENTS
from webhooks.enums import DeliveryStatus
from webhooks.insight.analytics import analytics
from webhooks.insight.history import deliveries_of_app, delivery_of_app
from webhooks.services.deliveries import redeliver
from webhooks.services.sandbox.changes import reason_of
from webhooks.services.sandbox.samples import send_sample

TAG = "Deliveries and analytics"
DELIVERY = DeveloperView.path_fields | {"delivery_id": serializers.DeliveryId()}


class DeliveriesView(DeveloperView):
    tag = TAG

    @extend_schema(
        "listAppDeliveries",
        parameters=[DeliveryLogFilters],
        responses=serializers.DeliverySerializer(many=True),
    )
    def get(self, request: Request, app_id: str) -> Response:
        """List an app's deliveries.

        Those of all its installations.
        """
        query = Query(request.query_params)
        page, status = query.page(), query.choice("status", DeliveryStatus.values)
        event, installation_id = query.choice("event", EVENTS), query.text("installationId")
        query.check()
        history = deliveries_of_app(
            self.own_app(app_id), status=status, event_type=event, installation_id=installation_id
        )
        payloads = [serializers.delivery_payload(delivery) for delivery in history.page(page.window)]
        return Response(page_body(payloads, total=history.total, request=page))


class DeliveryView(DeveloperView):
    tag, path_fields = TAG, DELIVERY

    @extend_schema("getAppDelivery", responses=serializers.DeliveryWithAttemptsSerializer)
    def get(self, request: Request, app_id: str, delivery_id: str) -> Response:
        """Get a delivery with its attempts."""
        return Response(
            serializers.delivery_with_attempts(delivery_of_app(self.own_app(app_id), delivery_id))
        )


class RedeliverView(DeveloperView):
    tag, path_fields = TAG, DELIVERY

    @extend_schema(
        "redeliverForApp",
        responses={
            202: serializers.DeliverySerializer,
            409: problem("The webhook is inactive, or the delivery was a test."),
        },
    )
    def post(self, request: Request, app_id: str, delivery_id: str) -> Response:
        """Resend a delivery.

        With the same `X-Service-Event-Id`.
        """
        again = redeliver(delivery=delivery_of_app(self.own_app(app_id), delivery_id))
        return Response(serializers.delivery_payload(again), status=202)


class TestEventsView(DeveloperView):
    tag = "Testing"

    @extend_schema(
        "sendTestEvent", request=SampleEvent, responses={202: SentSampleSerializer, 409: NOT_INSTALLED}
    )
    def post(self, request: Request, app_id: str) -> Response:
        """Send a test event.

        With sample data, to the app on your own sandbox only.
        """
        name = validated(SampleEvent, request)["event"]
        app = self.own_app(app_id)
        limits.count_changes(self.developer)
        event, deliveries = send_sample(app=app, developer=self.developer, event_type=name)
        assert event.installation is not None
        reason = reason_of(event, event.installation, deliveries)
        return Response(
            {"eventId": str(event.id), "deliveries": deliveries, "reason": reason or None}, status=202
        )


class AnalyticsView(DeveloperView):
    tag = TAG

    @extend_schema("getAnalytics", responses=AnalyticsSerializer)
    def get(self, request: Request, app_id: str) -> Response:
        """Get an app's analytics.

        Installations on sandboxes don't count.
        """
        return Response(AnalyticsSerializer(analytics(self.own_app(app_id))).data)
