"""`/developer/apps/:appId/analytics`."""

from rest_framework.request import Request
from rest_framework.response import Response

from developers.analytics import analytics
from developers.api import wire
from developers.api.views.base import DeveloperView


class AnalyticsView(DeveloperView):
    def get(self, request: Request, app_id: str) -> Response:
        return Response(wire.analytics_record(analytics(self.own_app(app_id))))
