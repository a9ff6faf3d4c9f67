"""Sales figures, as `read_analytics` shows them."""

from rest_framework.request import Request
from rest_framework.response import Response

from appapi.views.base import AppApiView
from stores.dashboard import DEFAULT_DAYS, MAX_DAYS, dashboard
from stores.records import dashboard_record


class AnalyticsDashboard(AppApiView):
    required_scope = "read_analytics"

    def get(self, request: Request) -> Response:
        query = self.query()
        days = query.integer("days", default=DEFAULT_DAYS, least=1, most=MAX_DAYS)
        query.check()
        return Response(dashboard_record(dashboard(self.business, days=days)))
