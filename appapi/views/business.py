"""The business that the app is installed on, as `read_business` shows it."""

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Business
from appapi.views.base import AppApiView
from stores.records import business_record


class BusinessDetail(AppApiView):
    required_scope = "read_business"

    def get(self, request: Request) -> Response:
        """Authentication brought along what most calls need of it; this one shows all."""
        return Response(business_record(Business.objects.get(pk=self.business.pk)))
