"""The business: its data, site pages and sales figures, and the app's own installation on it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Business
from appapi.pages import page_of
from appapi.serializers import DashboardPeriod, InstallationSerializer
from appapi.views.base import AppApiView
from common.rest.fields import Text
from common.times import iso
from extensions.queries import settings_of
from stores import queries
from stores.dashboard import DEFAULT_DAYS, MAX_DAYS, dashboard
from stores.serializers import (
    PAGE_COLUMNS,
    BusinessSerializer,
    DashboardSerializer,
    PageSerializer,
    page_payload,
)


class BusinessDetail(AppApiView):
    tag = "Business and site"
    required_scope = "read_business"

    @extend_schema("getBusiness", responses=BusinessSerializer)
    def get(self, request: Request) -> Response:
        """Get the business."""
        # Authentication read only the columns that most calls need.
        return Response(BusinessSerializer(Business.objects.get(pk=self.business.pk)).data)


class PageList(AppApiView):
    tag = "Business and site"
    required_scope = "read_pages"

    @extend_schema("listPages", responses=PageSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List site pages.

        Published ones only.
        """
        query = self.query()
        page = self.page(query)
        query.check()
        return Response(page_of(queries.published_pages(self.business), page, page_payload, PAGE_COLUMNS))


class PageBySlug(AppApiView):
    tag = "Business and site"
    path_fields = {"slug": Text("The page's name in URLs.", "about")}
    required_scope = "read_pages"

    @extend_schema("getPage", responses=PageSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Get a site page."""
        return Response(page_payload(queries.page_by_slug(self.business, slug)))


class AnalyticsDashboard(AppApiView):
    tag = "Business and site"
    required_scope = "read_analytics"

    @extend_schema("getDashboard", parameters=[DashboardPeriod], responses=DashboardSerializer)
    def get(self, request: Request) -> Response:
        """Get sales figures.

        Cancelled orders are counted but bring no revenue.
        """
        query = self.query()
        days = query.integer("days", default=DEFAULT_DAYS, least=1, most=MAX_DAYS)
        query.check()
        figures = dashboard(self.business, days=days)
        return Response(DashboardSerializer(figures, context={"currency": figures.currency}).data)


class OwnInstallation(AppApiView):
    tag = "Installation"
    required_scope = None

    @extend_schema("getInstallation", responses=InstallationSerializer)
    def get(self, request: Request) -> Response:
        """Get the installation."""
        installation = self.installation
        return Response(
            {
                "installationId": str(installation.pk),
                "businessId": str(installation.business_id),
                "isTestInstall": installation.is_test,
                "needsReConsent": installation.needs_reconsent,
                "scopes": installation.effective_scopes,
                "settings": settings_of(installation),
                "installedAt": iso(installation.installed_at),
            }
        )
